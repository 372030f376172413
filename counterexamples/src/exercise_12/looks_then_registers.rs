//! Breaks clause 9: The handle.
//! Caught by: models::a_handle_that_waits_is_woken_in_every_order
//! Also fails: a_waker_that_panics_in_a_poll_of_the_handle_is_not_kept
//! Also fails: models::a_handle_that_changes_its_waker_is_woken_in_every_order
//! Also fails: the_handle_can_be_awaited_on_any_thread
//! Also fails: wakers_that_look_alike_are_told_apart
//! Also fails: a_waker_that_ends_the_task_as_it_is_cloned_loses_no_output
//!
//! The handle looks whether the task is complete, leaves its waker, and is
//! pending. If the task has ended between the two, it found no waker to wake,
//! and the handle waits for ever. What `fetch_or` returns would have told.

super::parts! { cell holder owned runnable state waker right slot all others }

/// Leaves the waker, and does not look again.
mod slot {
    use std::ptr::NonNull;
    use std::task::{RawWaker, Waker};

    use super::cell::Header;
    pub use super::right::take;

    /// # Safety
    ///
    /// The caller must be the handle of the task, and alive.
    pub unsafe fn leave(
        task: NonNull<Header>,
        published: &mut Option<RawWaker>,
        waker: &Waker,
    ) -> bool {
        // SAFETY: the handle's reference keeps the task alive.
        let Header {
            state, join_waker, ..
        } = unsafe { task.as_ref() };
        let raw = RawWaker::new(waker.data(), waker.vtable());
        if published.as_ref() == Some(&raw) {
            return false;
        }
        if published.take().is_some() && state.withdraw_waker() {
            return true;
        }
        let waker = waker.clone();
        // SAFETY: the slot is the handle's: `JOIN_WAKER` is not set.
        drop(join_waker.with_mut(|slot| unsafe { &mut *slot }.replace(waker)));
        state.publish_waker();
        *published = Some(raw);
        false
    }
}
