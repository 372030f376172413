//! Solution 5: `sleep`, one timer thread, and a hierarchical timing wheel.
//!
//! Most sleeps are cancelled before they fire: a time-out is there in case
//! something else does not happen. So what counts is that to begin a sleep and
//! to drop it are cheap, and a wheel does both in constant time. It rounds
//! deadlines up, to a quarter of a millisecond.
//!
//! The clock is read once for each [`sleep`], and not at all by a poll: whether
//! it is ready is what the wheel says.
//!
//! *Memory ordering.* All that is shared is under one mutex. What was written
//! before a call of [`Timers::fire`] is seen by the poll that finds the sleep
//! fired.
//!
//! # Contract
//!
//! 1. **Never early.** No sleep is ready, and none is woken, before its
//!    deadline: by std's clock, or by what [`Timers::fire`] is told.
//! 2. **In time.** [`Timers::fire`] wakes what is due and returns when it must
//!    be called again, `None` if nothing waits. Whoever keeps to that wakes
//!    each sleep at most a millisecond after its deadline.
//! 3. **Earlier ones interrupt.** A sleep that is polled for the first time
//!    calls `rouse` if it is due more than a millisecond before the time that
//!    `fire` has returned, or if that is `None`; or the `fire` that runs
//!    meanwhile takes it into account. Between a `rouse` and the next `fire`
//!    none need call it again.
//! 4. **Latest waker.** Of the wakers that a sleep was polled with only the
//!    newest is woken.
//! 5. **No lost wake-up.** A sleep that is polled while it fires is ready, or
//!    is woken.
//! 6. **Nothing left behind.** A sleep that is dropped is woken no more, even
//!    if both are due and the waker of another one drops it; only a `fire` on
//!    another thread may be about to call its waker. It leaves neither its
//!    waker nor anything else.
//! 7. **Free wakers.** A waker that is called, cloned or dropped may make, poll
//!    and drop sleeps. If it panics in `fire`, whatever it throws, `fire`
//!    passes nothing on, and wakes the others that are due all the same.
//! 8. **Few turns.** However long a sleep is, `fire` has to be called at most
//!    ten times for it. A sleep that is due after `fire` is to be called again
//!    does not rouse.
//! 9. **Any deadline.** A sleep that is due already is ready, or woken by the
//!    `fire` that runs or comes next. One whose deadline no [`Instant`] can
//!    express waits forever, and says so by [`Sleep::deadline`].
//! 10. **One thread.** The first of [`sleep`] and [`sleep_until`] that needs it
//!     starts a thread, named `timer`. It serves all of the process, for good.
//! 11. **Interruptible.** While that thread sleeps for a long sleep, a short
//!     one is woken in time.
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

/// Makes a future that is ready once `duration` has passed since this call.
///
/// # Panics
///
/// When the process's timer thread cannot be started.
pub fn sleep(duration: Duration) -> Sleep {
    match Instant::now().checked_add(duration) {
        Some(deadline) => sleep_until(deadline),
        None => timers_of_process().sleep_for_ever(),
    }
}

/// Makes a future that is ready once `deadline` has come.
///
/// # Panics
///
/// When the process's timer thread cannot be started.
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

/// What the timer thread does, for good.
fn drive(timers: &Timers, parker: &Parker) {
    loop {
        // The parker keeps a token that comes between these two: whoever
        // rouses after the look ends the sleep, or keeps it from beginning.
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
