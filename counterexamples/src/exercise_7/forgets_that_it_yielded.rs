//! Breaks clause 1: Once.
//! Caught by: a_yield_is_pending_once_and_then_ready
//! Also fails: a_yield_takes_place_when_it_is_polled
//! Also fails: a_yield_wakes_its_task_once
//! Also fails: a_task_that_is_alone_goes_on
//! Also fails: two_tasks_take_turns
//! Also fails: a_busy_task_shares_its_thread
//! Also fails: yields_of_two_tasks_do_not_get_mixed_up
//! Also fails: block_on_runs_a_future_that_yields
//! Also fails: the_second_poll_may_bring_another_waker
//! Also fails: a_yield_may_begin_and_end_on_two_threads
//! Also fails: branches_of_one_task_take_turns_too
//! Also fails: a_yield_that_is_over_stays_over
//!
//! The flag is a variable of the poll, and so it is new in each poll: pending
//! for ever, and always woken. The other tasks run well.

use std::pin::Pin;
use std::task::{Context, Poll};

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

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut was_polled = false;
        let mut yield_once = |cx: &mut Context<'_>| {
            if was_polled {
                return Poll::Ready(());
            }
            was_polled = true;
            cx.waker().wake_by_ref();
            Poll::Pending
        };
        yield_once(cx)
    }
}

#[cfg(test)]
#[path = "../../../exercises/07-yield-now/src/tests/mod.rs"]
mod tests;
