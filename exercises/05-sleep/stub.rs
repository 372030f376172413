//! Exercise 5: `sleep`, and one thread for all who sleep.
//!
//! The chapter is `src/blocking/sleep.md`. Check yourself with
//! `cargo test -p exercise-5`, and then let every order of events be tried:
//! `cargo test -p exercise-5 --features loom`.
//!
//! The work is in two parts. [`Timers`] knows who sleeps until when. It has no
//! thread and reads no clock: it is told what time it is. The second part is
//! the thread that tells it. Import `Arc`, `Mutex` and the like from
//! `primitives`; a parker for the thread is in [`parker`].
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

/// All who sleep, and until when. Somebody drives them: calls
/// [`fire`](Self::fire), waits until the time that it returned or until
/// `rouse` is called, and calls it again.
pub struct Timers {}

impl Timers {
    /// Makes timers for which nobody waits. They call `rouse` when whoever
    /// drives them must call [`fire`](Self::fire) earlier than it said.
    ///
    /// `rouse` is called in the polls of sleeps: it should be quick, and must
    /// not panic.
    pub fn new(rouse: impl Fn() + Send + Sync + 'static) -> Self {
        let _ = rouse;
        todo!("make what the sleeps and the driver share")
    }

    /// Makes a sleep that ends when [`fire`](Self::fire) is told `deadline` or
    /// a later time.
    pub fn sleep_until(&self, deadline: Instant) -> Sleep {
        let _ = deadline;
        todo!("remember whose sleep it is; it begins with its first poll")
    }

    /// Wakes all that is due at `now`, and returns when to call it again.
    pub fn fire(&self, now: Instant) -> Option<Instant> {
        let _ = now;
        todo!("take out what is due; unlock; wake it; say what comes next")
    }
}

/// A future that is ready when its deadline has come.
pub struct Sleep {}

impl Sleep {
    /// When the sleep ends; `None` if never.
    pub fn deadline(&self) -> Option<Instant> {
        todo!("what it was made with")
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let _ = cx;
        todo!("fired? ready. Else keep the waker, and rouse if need be")
    }
}

/// Makes a future that is ready once `duration` has passed since this call.
pub fn sleep(duration: Duration) -> Sleep {
    let _ = duration;
    todo!("add it to the clock, if it can be added")
}

/// Makes a future that is ready once `deadline` has come.
pub fn sleep_until(deadline: Instant) -> Sleep {
    let _ = deadline;
    todo!("start the timer thread if there is none; ask its `Timers`")
}
