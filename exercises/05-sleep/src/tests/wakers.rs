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
    check(lesson, || assert_hinders_nobody(&HostileWaker::panicking()));
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
        assert_hinders_nobody(&HostileWaker::new(|| panic_any(PanicOnDrop)));
    });
}

/// Asserts that all others are woken when this waker is.
#[track_caller]
fn assert_hinders_nobody(hostile: &Waker) {
    let mut driven = Driven::new();
    let mut first = begin(driven.after(SECOND));
    let mut other = driven.after(SECOND);
    poll(&mut other, hostile);
    let mut second = begin(driven.after(SECOND));
    let mut later = begin(driven.after(2 * SECOND));
    let end = driven.now + 3 * SECOND;
    driven.run_until(end, |_| {});
    for (sleep, wakes) in [&mut first, &mut second, &mut later] {
        let wakes = wakes.wakes();
        assert!(wakes == 1, "another sleep was woken {wakes} times");
        let is_ready = poll(sleep, Waker::noop());
        assert!(is_ready, "another sleep is not ready");
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
