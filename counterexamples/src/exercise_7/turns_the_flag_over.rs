//! Breaks clause 6: Over.
//! Caught by: a_yield_that_is_over_stays_over
//!
//! Each poll turns the flag over, so that the future can be used again. Whoever
//! polls it once too often, a `select!` in a loop for instance, yields once too
//! often.

use std::pin::Pin;
use std::task::{Context, Poll};

pub use yield_now::EveryNth;

/// Gives the executor's other tasks a turn.
pub fn yield_now() -> YieldNow {
    YieldNow { is_waiting: false }
}

/// The future of [`yield_now()`].
#[must_use = "a yield takes place where it is awaited"]
pub struct YieldNow {
    is_waiting: bool,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.is_waiting = !self.is_waiting;
        if !self.is_waiting {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
#[path = "../../../exercises/07-yield-now/src/tests/mod.rs"]
mod tests;
