//! Breaks clause 4: Nothing kept.
//! Caught by: yields_of_two_tasks_do_not_get_mixed_up
//! Also fails: two_tasks_take_turns
//! Also fails: a_yield_dropped_halfway_changes_nothing_for_the_next
//! Also fails: a_yield_may_begin_and_end_on_two_threads
//! Also fails: branches_of_one_task_take_turns_too
//!
//! The flag is kept for each thread, since a thread polls one task at a time.
//! Between the two polls of this one it polls all the others.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};

pub use yield_now::EveryNth;

thread_local! {
    static IS_YIELDING: Cell<bool> = const { Cell::new(false) };
}

/// Gives the executor's other tasks a turn.
pub fn yield_now() -> YieldNow {
    YieldNow { is_over: false }
}

/// The future of [`yield_now()`].
#[must_use = "a yield takes place where it is awaited"]
pub struct YieldNow {
    is_over: bool,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_over || IS_YIELDING.replace(false) {
            self.is_over = true;
            return Poll::Ready(());
        }
        IS_YIELDING.set(true);
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
#[path = "../../../exercises/07-yield-now/src/tests/mod.rs"]
mod tests;
