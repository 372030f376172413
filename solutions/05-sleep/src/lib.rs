//! Solution 5: `sleep`, one timer thread, and a hierarchical timing wheel.
//!
//! Most sleeps are cancelled before they fire, because a timeout is there in
//! case something else doesn't happen. Therefore beginning a sleep and dropping
//! it have to be cheap, and a wheel does both in constant time. It rounds
//! deadlines up, to a quarter of a millisecond.
//!
//! Each call of [`sleep`] reads the clock once, and a poll doesn't read it at
//! all: the wheel says whether the sleep is ready.
//!
//! *Memory ordering.* All that is shared is under one mutex. The poll that
//! finds that the sleep has fired sees what was written before the call of
//! [`Timers::fire`].
//!
//! # Contract
//!
//! 1. **Never early.** No sleep is ready, and none is woken, before its
//!    deadline, by std's clock or by the time that is passed to
//!    [`Timers::fire`].
//! 2. **In time.** [`Timers::fire`] wakes what is due, and returns when it must
//!    be called again, or `None` if nothing waits. A driver that calls it at
//!    that time wakes each sleep at most a millisecond after its deadline.
//! 3. **Earlier ones interrupt.** A sleep that is polled for the first time
//!    calls `unpark` if it is due more than a millisecond before the time that
//!    `fire` returned, or if `fire` returned `None`. Before the first `fire`,
//!    timers behave as if it had returned `None`. If a `fire` is running, it
//!    may instead take the sleep into account. Between a call of `unpark` and
//!    the next `fire`, no sleep has to call it again. `unpark` may be called
//!    while the timers' lock is held.
//! 4. **Latest waker.** Of the wakers that a sleep was polled with, only the
//!    newest is woken.
//! 5. **No lost wake-up.** A sleep that is polled while it fires is ready, or
//!    is woken.
//! 6. **Nothing left behind.** A sleep that has been dropped is no longer
//!    woken, even if the waker of another sleep drops it when both are due.
//!    Only a `fire` on another thread may be about to call its waker. A dropped
//!    sleep leaves behind neither its waker nor anything else.
//! 7. **Free wakers.** A waker that is called, cloned or dropped may create,
//!    poll and drop sleeps. If it panics in `fire`, no matter with which
//!    payload, `fire` propagates nothing, and still wakes the others that are
//!    due. If it panics when a poll clones it, that poll panics, and nothing
//!    else changes.
//! 8. **Few calls.** No matter how long a sleep is, `fire` has to be called at
//!    most ten times for it. A sleep that is due after the time at which `fire`
//!    is to be called again doesn't call `unpark`.
//! 9. **Any deadline.** A sleep that is already due is ready, or is woken by
//!    the `fire` that is running or comes next. A sleep whose deadline no
//!    [`Instant`] can express waits forever, and its [`Sleep::deadline`] is
//!    `None`.
//! 10. **One thread.** The first call of [`sleep`] or [`sleep_until`] that
//!     needs it starts a thread named `timer`, which serves the whole process
//!     from then on.
//! 11. **Interruptible.** While that thread waits for a long sleep, a short one
//!     is woken in time.
//! 12. **Idle.** That thread sleeps until something is due. It neither ticks
//!     nor spins.
//! 13. **Anywhere.** A sleep may be polled on one thread and then on another,
//!     and moved in between: it is `Send`, `Sync` and `Unpin`.
//!
//! # Examples
//!
//! ```no_run
//! use std::time::Duration;
//!
//! let nap = solution_5::sleep(Duration::from_millis(20));
//! // In an `async` block: `nap.await`.
//! assert!(nap.deadline().is_some());
//! ```

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/05-sleep/src/models.rs"]
mod models;
mod sleep;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/05-sleep/src/tests/mod.rs"]
mod tests;
mod timers;
mod unused;
mod wheel;

use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use parker::Parker;

pub use sleep::Sleep;
pub use timers::Timers;

/// Creates a future that is ready once `duration` has passed since this call.
///
/// # Panics
///
/// If the process's timer thread can't be started.
pub fn sleep(duration: Duration) -> Sleep {
    match Instant::now().checked_add(duration) {
        Some(deadline) => sleep_until(deadline),
        None => timers_of_process().sleep_forever(),
    }
}

/// Creates a future that is ready once `deadline` has come.
///
/// # Panics
///
/// If the process's timer thread can't be started.
pub fn sleep_until(deadline: Instant) -> Sleep {
    timers_of_process().sleep_until(deadline)
}

// ANCHOR: thread
fn timers_of_process() -> &'static Timers {
    static TIMERS: OnceLock<Timers> = OnceLock::new();
    TIMERS.get_or_init(|| {
        let parker = Parker::new();
        let unparker = parker.unparker();
        let timers = Timers::new(move || unparker.unpark());
        let driven = timers.clone();
        thread::Builder::new()
            .name("timer".into())
            .spawn(move || drive(&driven, &parker))
            .expect("the system has a thread left for the timers");
        timers
    })
}

/// What the timer thread does, forever.
fn drive(timers: &Timers, parker: &Parker) {
    loop {
        // The parker keeps a token that comes between these two, so that an
        // unpark after the look ends the sleep, or keeps it from beginning.
        match timers.fire(Instant::now()) {
            Some(next) => {
                let left = next.saturating_duration_since(Instant::now());
                parker.park_timeout(left);
            }
            None => parker.park(),
        }
    }
}
// ANCHOR_END: thread
