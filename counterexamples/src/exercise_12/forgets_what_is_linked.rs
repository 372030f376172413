//! Breaks clause 11: Dropped unrun.
//! Caught by: a_runnable_that_is_dropped_cancels_its_task
//! Also fails: aborts_drops_and_the_close_allocate_nothing
//! Also fails: a_runnable_is_one_word_and_has_a_link
//!
//! Whoever drops a `Runnable` cancels its task. The link in it is a plain
//! pointer, without a destructor: what hangs on it is forgotten, and its
//! handles wait for ever.

super::parts! { cell owned runnable slot state waker right holder all others }

/// Cancels one task only.
mod holder {
    use std::ptr::NonNull;

    use super::Schedule;
    use super::cell::Header;
    use super::right::cancel;
    pub use super::right::{run, schedule};

    /// # Safety
    ///
    /// The caller must hold the task, and gives it up.
    pub unsafe fn give_up<S: Schedule>(task: NonNull<Header>) {
        // SAFETY: passed on.
        unsafe { cancel::<S>(task) };
    }
}
