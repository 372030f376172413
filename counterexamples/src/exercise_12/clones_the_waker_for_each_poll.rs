//! Breaks clause 17: Few steps.
//! Caught by: a_wake_up_and_a_poll_take_few_steps
//!
//! The future may keep its waker for as long as it likes, so it gets one with a
//! reference of its own. It could clone the waker if it wanted to keep it. For
//! all the polls that do not, two steps are paid for nothing.

super::parts! { cell holder owned runnable slot state right waker all others }

/// Makes a waker with a reference of its own for each poll.
mod waker {
    use std::ptr::NonNull;
    use std::task::Waker;

    use super::cell::Header;
    use super::right;
    pub use super::right::is_of;

    /// # Safety
    ///
    /// The caller must hold the task.
    pub unsafe fn borrowed(task: NonNull<Header>) -> Waker {
        // SAFETY: passed on.
        let waker = unsafe { right::borrowed(task) };
        Waker::clone(&waker)
    }
}
