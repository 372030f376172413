//! Breaks clause 12: Panics.
//! Caught by: a_waker_that_panics_in_a_poll_of_the_handle_is_not_kept
//!
//! The slot is taken back, then the new waker is cloned into it. `clone` is
//! anybody's code: if it panics, the old waker is in a slot that says that it
//! is empty, and there it stays until the block is freed.

super::parts! { cell holder owned runnable state waker right slot all others }

/// Takes the slot back first.
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
        let passed = RawWaker::new(waker.data(), waker.vtable());
        if published.as_ref() == Some(&passed) {
            return false;
        }
        // SAFETY: the handle's reference keeps the task alive.
        let state = &unsafe { task.as_ref() }.state;
        if published.take().is_some() && state.withdraw_waker() {
            return true;
        }
        // SAFETY: passed on.
        unsafe { right::leave(task, published, waker) }
    }
}
