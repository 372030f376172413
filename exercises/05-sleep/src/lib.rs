//! Exercise 5: `sleep`, and one thread for all sleeps.
//!
//! The chapter is `src/blocking/sleep.md`. Check yourself with
//! `cargo test -p exercise-5`, and then let loom try all interleavings:
//! `cargo test -p exercise-5 --features loom`.
//!
//! The work has two parts. [`Timers`] knows which sleeps wait, and until when.
//! It has no thread and reads no clock: its caller passes it the time. The
//! second part is the thread that does so. Import `Arc`, `Mutex` and the like
//! from `primitives`. A parker for the thread is in [`parker`].
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
//! let nap = exercise_5::sleep(Duration::from_millis(20));
//! // In an `async` block: `nap.await`.
//! assert!(nap.deadline().is_some());
//! ```

#[cfg(all(test, feature = "loom"))]
mod models;
#[cfg(all(test, not(feature = "loom")))]
mod tests;

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// All sleeps that wait, and until when. A *driver* calls [`fire`](Self::fire),
/// waits until the time that it returned or until `unpark` is called, and then
/// calls it again.
pub struct Timers {}

impl Timers {
    /// Creates timers for which no sleep waits. They call `unpark` when the
    /// driver must call [`fire`](Self::fire) earlier than it said.
    ///
    /// `unpark` is called in the polls of sleeps, so it should be quick, and it
    /// must not panic.
    pub fn new(unpark: impl Fn() + Send + Sync + 'static) -> Self {
        let _ = unpark;
        todo!("create what the sleeps and the driver share")
    }

    /// Creates a sleep that ends when `deadline` or a later time is passed to
    /// [`fire`](Self::fire).
    pub fn sleep_until(&self, deadline: Instant) -> Sleep {
        let _ = deadline;
        todo!("remember the timers; the sleep begins with its first poll")
    }

    /// Wakes all sleeps that are due at `now`, and returns when to call it
    /// again.
    pub fn fire(&self, now: Instant) -> Option<Instant> {
        let _ = now;
        todo!("take out what is due; unlock; wake it; return what's next")
    }
}

/// A future that is ready once its deadline has come.
pub struct Sleep {}

impl Sleep {
    /// When the sleep ends; `None` if never.
    pub fn deadline(&self) -> Option<Instant> {
        todo!("what it was created with")
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let _ = cx;
        todo!("fired? ready. Else keep the waker; unpark if necessary")
    }
}

/// Creates a future that is ready once `duration` has passed since this call.
pub fn sleep(duration: Duration) -> Sleep {
    let _ = duration;
    todo!("add it to the current time, if it can be added")
}

/// Creates a future that is ready once `deadline` has come.
pub fn sleep_until(deadline: Instant) -> Sleep {
    let _ = deadline;
    todo!("start the timer thread if there is none; ask its `Timers`")
}
