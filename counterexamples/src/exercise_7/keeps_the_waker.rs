//! Breaks clause 4: Nothing kept.
//! Caught by: a_yield_keeps_no_waker
//!
//! The waker is kept as proof that the future was polled, and until the future is
//! gone. A task that is never polled again now holds its own waker, and the waker
//! holds the task: neither is ever freed.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

pub use yield_now::EveryNth;

/// Gives the executor's other tasks a turn.
pub fn yield_now() -> YieldNow {
    YieldNow { waker: None }
}

/// The future of [`yield_now()`].
#[must_use = "a yield takes place where it is awaited"]
pub struct YieldNow {
    waker: Option<Waker>,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.waker.is_some() {
            return Poll::Ready(());
        }
        self.waker.insert(cx.waker().clone()).wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
#[path = "../../../exercises/07-yield-now/src/tests/mod.rs"]
mod tests;
