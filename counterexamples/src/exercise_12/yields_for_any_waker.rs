//! Breaks clause 16: Yield.
//! Caught by: a_yield_wakes_a_waker_that_is_not_the_tasks
//!
//! A task runs on this thread, so it must be the one that yields: the mark is
//! left for it, and no waker is called. But the yield may be inside a
//! combinator that polls with a waker of its own, and will poll it again only
//! when that one is woken.

super::parts! { cell holder owned runnable slot state right waker all others }

/// Takes any waker for the task's, as long as a task runs on this thread.
mod waker {
    use std::task::Waker;

    pub use super::right::borrowed;

    pub fn is_of(_waker: &Waker, task: *const ()) -> bool {
        !task.is_null()
    }
}
