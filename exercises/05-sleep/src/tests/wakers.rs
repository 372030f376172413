//! Wakers that run arbitrary code.

use std::mem::ManuallyDrop;
use std::ptr;
use std::task::{RawWaker, RawWakerVTable};

use super::*;

/// Clause 7: the panic concerns only one task.
#[test]
fn a_waker_that_panics_stops_no_other() {
    let lesson = Lesson {
        clause: "7. Free wakers",
        promise: "When a waker panics, all others that are due, now or later, are woken.",
        usual_cause: "The panic comes out of `fire`, and the other wakers aren't called, or the \
                      panic poisons the mutex. Call each waker within `catch_unwind`, without \
                      holding the lock.",
        read: "blocking/sleep.html#wakers-are-strangers",
    };
    check(lesson, || assert_stops_no_other(HostileWaker::panicking()));
}

/// Clause 7: dropping a panic's payload runs foreign code, too.
#[test]
fn what_a_waker_throws_may_panic_in_turn() {
    let lesson = Lesson {
        clause: "7. Free wakers",
        promise: "When a waker panics with a payload that panics when it is dropped, all others \
                  are woken.",
        usual_cause: "What `catch_unwind` returns is dropped at once, and nothing catches the \
                      panic of that drop.",
        read: "blocking/sleep.html#wakers-are-strangers",
    };
    check(lesson, || {
        assert_stops_no_other(HostileWaker::new(|| panic_any(PanicOnDrop)));
        // What that destructor throws may panic in turn, too.
        assert_stops_no_other(HostileWaker::new(|| panic_any(ThrowsOnDrop)));
    });
}

/// Throws a value that itself panics when it's dropped.
struct ThrowsOnDrop;

impl Drop for ThrowsOnDrop {
    fn drop(&mut self) {
        if !thread::panicking() {
            panic_any(PanicOnDrop);
        }
    }
}

/// Clause 7: code that wakes by reference drops the waker after that.
#[test]
fn a_waker_that_panics_when_it_is_dropped_stops_no_other() {
    let lesson = Lesson {
        clause: "7. Free wakers",
        promise: "When the target of a waker panics as it is dropped, all others are woken.",
        usual_cause: "Only the call of the waker is in `catch_unwind`, and the waker is dropped \
                      after it. Move the waker into the closure: `move || waker.wake()`.",
        read: "blocking/sleep.html#wakers-are-strangers",
    };
    check(lesson, || {
        let target = PanicOnDrop;
        assert_stops_no_other(HostileWaker::new(move || _ = &target));
    });
}

/// Asserts that all others are woken after this waker is called or dropped.
#[track_caller]
fn assert_stops_no_other(hostile: Waker) {
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
        "the waker's panic came out of `fire`, which then doesn't call the wakers that are left"
    );
    for (name, (sleep, wakes)) in [
        ("begun before it", &mut first),
        ("begun after it", &mut second),
        ("due a second later", &mut later),
    ] {
        let wakes = wakes.wakes();
        assert!(
            wakes == 1,
            "the waker panicked, and then the sleep {name} was woken {wakes} times"
        );
        let is_ready = poll(sleep, Waker::noop());
        assert!(is_ready, "the sleep {name} was woken, but isn't ready");
    }
}

/// Clause 7: a waker may run its task right there.
#[test]
fn a_waker_may_make_poll_and_drop_sleeps() {
    let lesson = Lesson {
        clause: "7. Free wakers",
        promise: "A waker that is called may begin sleeps, and drop them.",
        usual_cause: "`fire` calls wakers under its lock, and the waker waits for that lock, \
                      forever. Take one waker out, unlock, and then call it.",
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
                drop(begun.lock().expect("no code panics here").take());
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

/// A waker's target that owns a sleep, like a task that waits for two.
struct OwnsASleep {
    _sleep: Mutex<Sleep>,
}

impl Wake for OwnsASleep {
    fn wake(self: Arc<Self>) {}
}

/// Clause 7: dropping the last waker drops the task, and what the task owns.
#[test]
fn a_waker_may_drop_sleeps_when_it_is_dropped() {
    let lesson = Lesson {
        clause: "7. Free wakers",
        promise: "A waker may be the last owner of a task that has sleeps of its own.",
        usual_cause: "A waker is dropped under the lock: when its sleep is dropped, when a newer \
                      waker replaces it, after it was called, or in the first poll of a sleep that \
                      is due already.",
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
        // The sleep is dropped, and its waker with it.
        drop(begin_with_owner());
        // A newer waker replaces it.
        let mut replaced = begin_with_owner();
        poll(&mut replaced, Waker::noop());
        // It is called.
        let called = begin_with_owner();
        driven.timers.fire(driven.now + SECOND + MS);
        drop((replaced, called));
        // Its sleep is due already, and doesn't keep it.
        let (owned, _wakes) = begin(driven.after(2 * HOUR));
        let owner = OwnsASleep {
            _sleep: Mutex::new(owned),
        };
        let waker = with_only_clone(Arc::new(owner).into());
        poll(&mut driven.timers.sleep_until(driven.now), &waker);
    });
}

thread_local! {
    static ONLY_CLONE: Cell<Option<Waker>> = const { Cell::new(None) };
}

/// Makes a waker whose next clone on this thread is this one, so that what the
/// clone owns is dropped with it.
fn with_only_clone(clone: Waker) -> Waker {
    const VTABLE: &RawWakerVTable = &RawWakerVTable::new(
        |_| {
            let clone = ONLY_CLONE.take();
            let clone = clone.unwrap_or_else(|| Waker::noop().clone());
            let clone = ManuallyDrop::new(clone);
            RawWaker::new(clone.data(), clone.vtable())
        },
        |_| (),
        |_| (),
        |_| (),
    );
    ONLY_CLONE.set(Some(clone));
    // SAFETY: the vtable's functions don't use the pointer, and `clone` gives
    // away the parts of a waker that isn't dropped.
    unsafe { Waker::from_raw(RawWaker::new(ptr::null(), VTABLE)) }
}

/// Clause 7: cloning a waker runs foreign code, too.
#[test]
fn a_waker_may_make_poll_and_drop_sleeps_when_it_is_cloned() {
    let lesson = Lesson {
        clause: "7. Free wakers",
        promise: "A waker that is cloned may begin sleeps, and drop them.",
        usual_cause: "`poll` clones the waker under the lock, and the clone waits for that lock. \
                      Clone the waker first, and then lock.",
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
        // Another waker replaces this one, and this one then replaces the
        // other.
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

/// Clause 7: only the poll that clones the waker fails.
#[test]
fn a_waker_that_panics_when_it_is_cloned_stops_no_other() {
    let lesson = Lesson {
        clause: "7. Free wakers",
        promise: "When the clone of a waker panics, the poll panics, and all others are woken.",
        usual_cause: "`poll` clones the waker under the lock, and the panic poisons the lock, or \
                      leaves an entry half written. Clone the waker first, and then lock.",
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
