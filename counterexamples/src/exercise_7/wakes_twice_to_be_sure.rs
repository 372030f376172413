//! Breaks clause 2: Woken.
//! Caught by: a_yield_wakes_its_task_once
//! Also fails: the_second_poll_may_bring_another_waker
//! Also fails: a_yield_takes_place_when_it_is_polled
//! Also fails: a_yield_dropped_halfway_changes_nothing_for_the_next
//!
//! One wake-up by reference and one by value, in case the executor knows only
//! one of them. Most merge the two. One that does not polls twice.

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
        if self.was_polled {
            return Poll::Ready(());
        }
        self.was_polled = true;
        let waker = cx.waker().clone();
        waker.wake_by_ref();
        waker.wake();
        Poll::Pending
    }
}

#[cfg(test)]
#[path = "../../../exercises/07-yield-now/src/tests/mod.rs"]
mod tests;
