//! Breaks clause 15: Listed.
//! Caught by: a_task_that_waits_after_the_close_is_cancelled
//! Also fails: models::no_task_slips_past_a_list_that_closes
//!
//! The list is closed, so the task is not listed; and it waits, as it would
//! have with a list. Nobody can find it any more, and nobody will wake it: what
//! it holds is lost.

super::parts! { cell holder runnable slot state waker right owned all others }

/// Lets tasks wait, listed or not.
mod owned {
    use std::ptr::NonNull;

    use super::Schedule;
    use super::cell::Header;
    use super::right;
    pub use super::right::{Links, OwnedTasks, leave};

    /// # Safety
    ///
    /// The caller must hold the task, whose scheduler is an `S`.
    pub unsafe fn enter<S: Schedule>(task: NonNull<Header>) -> bool {
        // SAFETY: passed on.
        let _is_open = unsafe { right::enter::<S>(task) };
        true
    }
}
