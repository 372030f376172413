//! Breaks clause 3: A turn for the others.
//! Caught by: a_busy_task_shares_its_thread
//! Also fails: a_yield_is_pending_once_and_then_ready
//! Also fails: a_yield_takes_place_when_it_is_polled
//! Also fails: a_yield_wakes_its_task_once
//! Also fails: two_tasks_take_turns
//! Also fails: a_yield_dropped_halfway_changes_nothing_for_the_next
//! Also fails: yields_of_two_tasks_do_not_get_mixed_up
//! Also fails: block_on_runs_a_future_that_yields
//! Also fails: the_second_poll_may_bring_another_waker
//! Also fails: branches_of_one_task_take_turns_too
//! Also fails: a_task_that_is_alone_goes_on
//! Tells: a_yield_is_pending_once_and_then_ready
//!
//! Lets another thread run. The other tasks of this thread are not threads: they
//! wait until the poll returns, and it returns `Ready`.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;

pub use yield_now::EveryNth;

/// Gives the executor's other tasks a turn.
pub fn yield_now() -> YieldNow {
    YieldNow
}

/// The future of [`yield_now()`].
#[must_use = "a yield takes place where it is awaited"]
pub struct YieldNow;

impl Future for YieldNow {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
        thread::yield_now();
        Poll::Ready(())
    }
}

#[cfg(test)]
#[path = "../../../exercises/07-yield-now/src/tests/mod.rs"]
mod tests;
