//! Breaks clause 1: Once.
//! Caught by: a_yield_is_pending_once_and_then_ready
//! Also fails: a_yield_takes_place_when_it_is_polled
//! Also fails: two_tasks_take_turns
//! Also fails: a_busy_task_shares_its_thread
//! Also fails: a_yield_dropped_halfway_changes_nothing_for_the_next
//! Also fails: yields_of_two_tasks_do_not_get_mixed_up
//! Also fails: block_on_runs_a_future_that_yields
//! Also fails: branches_of_one_task_take_turns_too
//! Also fails: a_task_that_is_alone_goes_on
//!
//! It asks to be polled again, and does not wait for it. The task goes on at
//! once, and is polled once more when it may have nothing to do.

use std::pin::Pin;
use std::task::{Context, Poll};

pub use yield_now::EveryNth;

/// Gives the executor's other tasks a turn.
pub fn yield_now() -> YieldNow {
    YieldNow { was_woken: false }
}

/// The future of [`yield_now()`].
#[must_use = "a yield takes place where it is awaited"]
pub struct YieldNow {
    was_woken: bool,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if !self.was_woken {
            self.was_woken = true;
            cx.waker().wake_by_ref();
        }
        Poll::Ready(())
    }
}

#[cfg(test)]
#[path = "../../../exercises/07-yield-now/src/tests/mod.rs"]
mod tests;
