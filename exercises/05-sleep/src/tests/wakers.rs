//! Wakers that do what they like.

use super::*;

/// Clause 7: the panic is of one task.
#[test]
fn a_waker_that_panics_hinders_nobody() {
    let lesson = Lesson {
        clause: "7. Free wakers",
        promise: "When a waker panics, all others that are due are woken, now and later.",
        usual_cause: "The panic goes out of `fire`, past the other wakers, or poisons the mutex. \
                      Call each waker within `catch_unwind`, without the lock.",
        read: "blocking/sleep.html#wakers-are-strangers",
    };
    check(lesson, || assert_hinders_nobody(HostileWaker::panicking()));
}

/// Clause 7: to drop what was thrown is to run foreign code once more.
#[test]
fn what_a_waker_throws_may_panic_in_turn() {
    let lesson = Lesson {
        clause: "7. Free wakers",
        promise: "When a waker throws what panics when it is dropped, all others are woken.",
        usual_cause: "What `catch_unwind` returns is dropped at once, and nobody catches what that \
                      throws.",
        read: "blocking/sleep.html#wakers-are-strangers",
    };
    check(lesson, || {
        assert_hinders_nobody(HostileWaker::new(|| panic_any(PanicOnDrop)));
    });
}

/// Clause 7: whoever wakes by reference drops the waker after that.
#[test]
fn a_waker_that_panics_when_it_is_dropped_hinders_no_other() {
    let lesson = Lesson {
        clause: "7. Free wakers",
        promise: "When the target of a waker panics as it is dropped, all others are woken.",
        usual_cause: "Only the call of the waker is in `catch_unwind`, and the waker is dropped \
                      after it. Move the waker into the closure: `move || waker.wake()`.",
        read: "blocking/sleep.html#wakers-are-strangers",
    };
    check(lesson, || {
        let target = PanicOnDrop;
        assert_hinders_nobody(HostileWaker::new(move || _ = &target));
    });
}

/// Asserts that all others are woken when this waker is, or is dropped.
#[track_caller]
fn assert_hinders_nobody(hostile: Waker) {
    let mut driven = Driven::new();
    let mut first = begin(driven.after(SECOND));
    let mut other = driven.after(SECOND + NS);
    poll(&mut other, &hostile);
    // From now on the sleep owns the waker.
    drop(hostile);
    let mut second = begin(driven.after(SECOND + 2 * NS));
    let mut later = begin(driven.after(2 * SECOND));
    let end = driven.now + 3 * SECOND;
    let thrown = panic_message(|| driven.run_until(end, |_| {}));
    assert!(
        thrown.is_none(),
        "the waker's panic came out of `fire`, past the wakers that it had \
         yet to call"
    );
    for (name, (sleep, wakes)) in [
        ("begun before it", &mut first),
        ("begun after it", &mut second),
        ("due a second later", &mut later),
    ] {
        let wakes = wakes.wakes();
        assert!(
            wakes == 1,
            "the waker panicked; then the sleep {name} was woken {wakes} times"
        );
        let is_ready = poll(sleep, Waker::noop());
        assert!(is_ready, "the sleep {name} was woken and is not ready");
    }
}

/// Clause 7: a waker may run its task on the spot.
#[test]
fn a_waker_may_make_poll_and_drop_sleeps() {
    let lesson = Lesson {
        clause: "7. Free wakers",
        promise: "A waker that is called may itself begin sleeps and drop them.",
        usual_cause: "`fire` calls wakers under its lock, and the waker waits for that lock: for \
                      ever. Take the wakers out, unlock, then call them.",
        read: "blocking/sleep.html#wakers-are-strangers",
    };
    check(lesson, || {
        let mut driven = Driven::new();
        let is_called = Arc::new(AtomicBool::new(false));
        let begun = Arc::new(Mutex::new(Some(begin(driven.after(HOUR)))));
        let waker = HostileWaker::new({
            let (timers, now) = (driven.timers.clone(), driven.now);
            let is_called = is_called.clone();
            move || {
                drop(begin(timers.sleep_until(now + 2 * HOUR)));
                drop(begun.lock().expect("nothing panics here").take());
                is_called.store(true, SeqCst);
            }
        });
        let mut sleep = driven.after(SECOND);
        poll(&mut sleep, &waker);
        let end = driven.now + SECOND + MS;
        driven.run_until(end, |_| {});
        assert!(is_called.load(SeqCst), "the waker was not called");
    });
}

/// A waker's target that owns a sleep, as a task does that waits for two.
struct OwnsASleep {
    _sleep: Mutex<Sleep>,
}

impl Wake for OwnsASleep {
    fn wake(self: Arc<Self>) {}
}

/// Clause 7: with the last waker goes the task, and with it what it owns.
#[test]
fn a_waker_may_drop_sleeps_when_it_is_dropped() {
    let lesson = Lesson {
        clause: "7. Free wakers",
        promise: "A waker may be the last owner of a task that has sleeps of its own.",
        usual_cause: "A waker is dropped under the lock: by the drop of its sleep, when a newer one \
                      takes its place, or after it was called.",
        read: "blocking/sleep.html#wakers-are-strangers",
    };
    check(lesson, || {
        let driven = Driven::new();
        let begin_with_owner = || {
            let (owned, _wakes) = begin(driven.after(2 * HOUR));
            let owner = OwnsASleep {
                _sleep: Mutex::new(owned),
            };
            let mut sleep = driven.after(SECOND);
            poll(&mut sleep, &Arc::new(owner).into());
            sleep
        };
        // The sleep is dropped, and with it its waker.
        drop(begin_with_owner());
        // A newer waker takes its place.
        let mut replaced = begin_with_owner();
        poll(&mut replaced, Waker::noop());
        // It is called.
        let called = begin_with_owner();
        driven.timers.fire(driven.now + SECOND + MS);
        drop((replaced, called));
    });
}

/// Clause 7: to clone a waker is to run foreign code, too.
#[test]
fn a_waker_may_make_poll_and_drop_sleeps_when_it_is_cloned() {
    let lesson = Lesson {
        clause: "7. Free wakers",
        promise: "A waker that is cloned may itself begin sleeps and drop them.",
        usual_cause: "`poll` clones the waker under the lock, and the clone waits for that lock. \
                      Clone it first, then lock.",
        read: "blocking/sleep.html#wakers-are-strangers",
    };
    check(lesson, || {
        let mut driven = Driven::new();
        let clones = Arc::new(AtomicUsize::new(0));
        let waker = HostileClone::new({
            let (timers, now) = (driven.timers.clone(), driven.now);
            let clones = clones.clone();
            move || {
                clones.fetch_add(1, SeqCst);
                drop(begin(timers.sleep_until(now + 2 * HOUR)));
            }
        });
        let mut first = driven.after(SECOND);
        poll(&mut first, &waker);
        // Another one takes the place of this one, and this one of that.
        let (mut second, _wakes) = begin(driven.after(SECOND + NS));
        poll(&mut second, &waker);
        poll(&mut second, Waker::noop());
        poll(&mut second, &waker);
        let clones = clones.load(SeqCst);
        assert!(clones > 0, "the waker was never cloned");
        let end = driven.now + SECOND + MS;
        driven.run_until(end, |_| {});
    });
}

/// Clause 7: the poll that clones it fails, and no other.
#[test]
fn a_waker_that_panics_when_it_is_cloned_hinders_no_other() {
    let lesson = Lesson {
        clause: "7. Free wakers",
        promise: "When the clone of a waker panics, the poll panics; all others are woken.",
        usual_cause: "`poll` clones the waker under the lock: the panic poisons it, or leaves half \
                      of an entry. Clone it first, then lock.",
        read: "blocking/sleep.html#wakers-are-strangers",
    };
    check(lesson, || {
        let mut driven = Driven::new();
        let (_other, other_wakes) = begin(driven.after(SECOND));
        let waker = HostileClone::new(|| panic!("no clone of this waker"));
        let mut new = driven.after(SECOND + NS);
        let (mut begun, begun_wakes) = begin(driven.after(SECOND + 2 * NS));
        for sleep in [&mut new, &mut begun] {
            let _ = panic_message(|| _ = poll(sleep, &waker));
        }
        drop((new, waker));
        let end = driven.now + SECOND + MS;
        let thrown = panic_message(|| driven.run_until(end, |_| {}));
        assert!(thrown.is_none(), "then `fire` panicked: {thrown:?}");
        let wakes = other_wakes.wakes();
        assert!(wakes == 1, "then another sleep was woken {wakes} times");
        let is_ready = poll(&mut begun, Waker::noop());
        assert!(
            is_ready && begun_wakes.wakes() <= 1,
            "the sleep whose second poll panicked is ready: {is_ready}"
        );
    });
}
