//! Breaks clause 12: Panics.
//! Caught by: a_panic_of_the_scheduler_cancels_the_task
//!
//! Between the poll and the list the task is a pointer without a destructor.
//! The scheduler is asked for its list just then. If it panics, the task is
//! held by a thread that has forgotten it.

super::parts! { cell holder runnable slot state waker right owned all others }

/// Asks for the list with nothing in hand.
mod owned {
    use std::ptr::NonNull;

    use super::Schedule;
    use super::cell::{self, Header};
    use super::right;
    pub use super::right::{Links, OwnedTasks, leave};

    /// # Safety
    ///
    /// The caller must hold the task, whose scheduler is an `S`.
    pub unsafe fn enter<S: Schedule>(task: NonNull<Header>) -> bool {
        // SAFETY: the caller holds the task, so the scheduler is there.
        let scheduler = unsafe { cell::scheduler_of::<S>(task).as_ref() };
        if scheduler.owned().is_none() {
            return true;
        }
        // SAFETY: passed on.
        unsafe { right::enter::<S>(task) }
    }
}
