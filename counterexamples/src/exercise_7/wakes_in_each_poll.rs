//! Breaks clause 2: Woken.
//! Caught by: a_yield_wakes_its_task_once
//! Also fails: the_second_poll_may_bring_another_waker
//! Also fails: a_yield_takes_place_when_it_is_polled
//!
//! Wakes first and looks then. The task is polled once more than it yields, for
//! nothing; nothing else goes wrong.

use std::pin::Pin;
use std::task::{Context, Poll};

pub use yield_now::EveryNth;

/// Gives the executor's other tasks a turn.
pub fn yield_now() -> YieldNow {
    YieldNow { was_polled: false }
}

/// The future of [`yield_now()`].
#[must_use = "a yield takes place where it is awaited"]
pub struct YieldNow {
    was_polled: bool,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        cx.waker().wake_by_ref();
        if self.was_polled {
            return Poll::Ready(());
        }
        self.was_polled = true;
        Poll::Pending
    }
}

#[cfg(test)]
#[path = "../../../exercises/07-yield-now/src/tests/mod.rs"]
mod tests;
