//! Breaks clause 9: The handle.
//! Caught by: the_handle_wakes_the_waker_of_its_last_poll
//! Also fails: a_waker_that_panics_in_a_poll_of_the_handle_is_not_kept
//! Also fails: models::a_handle_that_changes_its_waker_is_woken_in_every_order
//! Also fails: wakers_that_look_alike_are_told_apart
//! Also fails: a_waker_that_ends_the_task_as_it_is_cloned_loses_no_output
//!
//! A task polls the handle again and again, always with the same waker, so one
//! is left and that is it. But handles move: into a `select`, into another
//! task. The first waker wakes somebody who no longer cares.

super::parts! { cell holder owned runnable state waker right slot all others }

/// Leaves a waker where there is none.
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
        if published.is_some() {
            return false;
        }
        // SAFETY: passed on.
        unsafe { right::leave(task, published, waker) }
    }
}
