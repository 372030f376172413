//! Breaks clause 13: Handed over.
//! Caught by: the_scheduler_may_end_the_task_before_it_returns
//!
//! The scheduler is in the block, and `schedule` takes it by reference, so why
//! clone it? Because the reference points into the block. The call gives the
//! task away; another worker runs it to its end and frees the block, while
//! `schedule` still reads its own fields.

super::parts! { cell owned runnable slot state waker right holder all others }

/// Calls the scheduler where it is.
mod holder {
    use std::ptr::NonNull;

    use super::Schedule;
    use super::cell::{self, Header};
    pub use super::right::{give_up, run};
    use super::runnable::Runnable;

    /// # Safety
    ///
    /// The caller must hold the task, and gives it up.
    pub unsafe fn schedule<S: Schedule>(task: NonNull<Header>) {
        let scheduler = cell::scheduler_of::<S>(task);
        // SAFETY: passed on.
        let task = unsafe { Runnable::<S>::from_header(task) };
        // SAFETY: wrong: the scheduler is borrowed from the task.
        unsafe { scheduler.as_ref() }.schedule(task);
    }
}
