//! Breaks clause 2: Woken.
//! Caught by: a_task_that_is_alone_goes_on
//! Also fails: a_yield_takes_place_when_it_is_polled
//! Also fails: a_yield_wakes_its_task_once
//! Also fails: two_tasks_take_turns
//! Also fails: a_busy_task_shares_its_thread
//! Also fails: a_yield_keeps_no_waker
//! Also fails: a_yield_dropped_halfway_changes_nothing_for_the_next
//! Also fails: block_on_runs_a_future_that_yields
//! Also fails: the_second_poll_may_bring_another_waker
//! Also fails: each_short_history_of_yields_and_ticks_goes_as_the_contract_says
//!
//! Keeps the waker of the task that yields, and wakes that task at the next
//! yield, so that another task has certainly run. The last task to yield waits
//! for a next yield that never comes.

use std::cell::RefCell;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

pub use yield_now::EveryNth;

// ANCHOR: bug
thread_local! {
    static DEFERRED: RefCell<Option<Waker>> = const { RefCell::new(None) };
}

/// Lets the executor's other tasks run.
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
        // ANCHOR: guilty
        let deferred = DEFERRED.replace(Some(cx.waker().clone()));
        deferred.into_iter().for_each(Waker::wake);
        Poll::Pending
        // ANCHOR_END: guilty
    }
}
// ANCHOR_END: bug

#[cfg(test)]
#[path = "../../../exercises/07-yield-now/src/tests/mod.rs"]
mod tests;
