//! Breaks clause 11: Dropped unrun.
//! Caught by: a_runnable_that_is_dropped_cancels_its_task
//!
//! What is linked is a `Runnable` too, so dropping it drops what hangs on that,
//! and so on. A queue of many thousand tasks needs as many frames on the stack,
//! and the program that shuts down under load dies of it.

super::parts! { cell owned runnable slot state waker right holder all others }

/// Drops what is linked, which drops what is linked to that.
mod holder {
    use std::ptr::NonNull;

    use super::Schedule;
    use super::cell::{self, Header};
    use super::right::cancel;
    pub use super::right::{run, schedule};
    use super::runnable::Runnable;

    /// # Safety
    ///
    /// The caller must hold the task, and gives it up.
    pub unsafe fn give_up<S: Schedule>(task: NonNull<Header>) {
        // SAFETY: the caller holds the task.
        if let Some(next) = unsafe { cell::take_link(task) } {
            // SAFETY: it was a `Runnable` when it was linked.
            drop(unsafe { Runnable::<S>::from_header(next) });
        }
        // SAFETY: passed on.
        unsafe { cancel::<S>(task) };
    }
}
