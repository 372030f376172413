//! Breaks clause 2: Woken.
//! Caught by: a_yield_wakes_its_task_once
//! Also fails: a_yield_takes_place_when_it_is_polled
//! Also fails: a_task_that_is_alone_goes_on
//! Also fails: two_tasks_take_turns
//! Also fails: a_busy_task_shares_its_thread
//! Also fails: a_yield_dropped_halfway_changes_nothing_for_the_next
//! Also fails: block_on_runs_a_future_that_yields
//! Also fails: the_second_poll_may_bring_another_waker
//! Also fails: branches_of_one_task_take_turns_too
//!
//! It steps aside, and nobody calls it back. In a `join!` with a future that is
//! woken all the time it seems to work.

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

    fn poll(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
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
