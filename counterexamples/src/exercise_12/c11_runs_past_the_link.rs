//! Breaks clause 11: Dropped unrun.
//! Caught by: what_is_linked_behind_a_runnable_that_runs_is_cancelled
//!
//! `run` clears the link, so that the next queue finds none in it. It does not
//! ask whether a task hung there still, which nothing will run or drop now.

super::parts! { cell owned runnable slot state waker right holder all others }

/// Clears the link, whatever is there.
mod holder {
    use std::ptr::NonNull;

    use super::Schedule;
    use super::cell::{self, Header};
    use super::right;
    pub use super::right::{give_up, schedule};

    /// # Safety
    ///
    /// The caller must hold the task, and gives it up.
    pub unsafe fn run<S: Schedule>(task: NonNull<Header>) {
        // SAFETY: the caller holds the task.
        let _ = unsafe { cell::take_link(task) };
        // SAFETY: passed on.
        unsafe { right::run::<S>(task) };
    }
}
