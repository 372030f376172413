//! Breaks clause 9: The handle.
//! Caught by: wakers_that_look_alike_are_told_apart
//!
//! The next waker is compared with the one that was passed at the last poll.
//! But that one was only lent; what the task has is its clone, which may have
//! another address. So a new waker at the old address is taken for the one that
//! is there, and is never woken.

super::parts! { cell holder owned runnable state waker right slot all others }

/// Keeps the address of the waker that was passed.
mod slot {
    use std::ptr::NonNull;
    use std::task::{RawWaker, Waker};

    use super::cell::Header;
    use super::right;
    pub use super::right::take;

    /// # Safety
    ///
    /// The caller must be the handle of the task, and alive.
    pub unsafe fn leave(
        task: NonNull<Header>,
        published: &mut Option<RawWaker>,
        waker: &Waker,
    ) -> bool {
        // SAFETY: passed on.
        let is_complete = unsafe { right::leave(task, published, waker) };
        if !is_complete {
            *published = Some(RawWaker::new(waker.data(), waker.vtable()));
        }
        is_complete
    }
}
