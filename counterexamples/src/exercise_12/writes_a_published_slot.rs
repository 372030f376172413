//! Breaks clause 9: The handle.
//! Caught by: models::a_handle_that_changes_its_waker_is_woken_in_every_order
//! Also fails: wakers_that_look_alike_are_told_apart
//! Also fails: a_waker_that_ends_the_task_as_it_is_cloned_loses_no_output
//!
//! A newer waker replaces the older one in the slot. The flag says already that
//! there is one, so it stays set: but then the slot belongs to the task, which
//! may be taking the waker out while it is overwritten.

super::parts! { cell holder owned runnable state waker right slot all others }

/// Replaces the waker while the flag is set.
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
        let waker = waker.clone();
        // SAFETY: wrong: the task may read it.
        drop(join_waker.with_mut(|slot| unsafe { &mut *slot }.replace(waker)));
        if state.publish_waker() {
            return true;
        }
        *published = Some(raw);
        false
    }
}
