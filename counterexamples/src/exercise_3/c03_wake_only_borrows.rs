//! Breaks clause 3: Wake.
//! Caught by: wake_uses_up_the_count_of_its_waker
//! Also fails: wakers_leave_no_memory_behind
//! Also fails: a_target_may_keep_the_arc_that_wakes_it
//! Also fails: a_waker_works_on_a_thread_that_did_not_make_it
//! Also fails: threads_may_clone_wake_and_drop_at_once
//! Also fails: a_panic_in_wake_gives_the_count_back_once
//! Also fails: a_target_of_any_shape_is_woken_and_dropped
//! Also fails: two_threads_use_up_their_wakers_at_once
//! Also fails: wakers_whose_target_panics_leave_no_memory_behind
//! Also fails: after_any_calls_the_counts_are_right
//!
//! `wake` borrows the `Arc` and passes a clone of it to the target, on the
//! assumption that the waker gives its own count back when it's dropped.
//! However, a waker that is woken by value isn't dropped.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::task::{RawWaker, RawWakerVTable, Wake, Waker};

pub use raw_waker::block_on;

/// Creates a waker that wakes `target`.
pub fn waker<W: Wake + Send + Sync + 'static>(target: Arc<W>) -> Waker {
    let raw = raw_waker::<W>(Arc::into_raw(target).cast());
    // SAFETY: the pointer is what the vtable's functions work on.
    unsafe { Waker::from_raw(raw) }
}

#[inline(never)]
fn raw_waker<W: Wake + Send + Sync + 'static>(target: *const ()) -> RawWaker {
    RawWaker::new(target, VtableOf::<W>::VTABLE)
}

struct VtableOf<W>(PhantomData<W>);

// ANCHOR: bug
impl<W: Wake + Send + Sync + 'static> VtableOf<W> {
    const VTABLE: &'static RawWakerVTable = &RawWakerVTable::new(
        Self::clone,
        Self::wake,
        Self::wake_by_ref,
        Self::drop,
    );

    /// # Safety
    ///
    /// The caller must pass the pointer of a living waker of a `W`.
    unsafe fn clone(target: *const ()) -> RawWaker {
        // SAFETY: the pointer came from `Arc::into_raw`; the waker has a count.
        unsafe { Arc::<W>::increment_strong_count(target.cast()) };
        raw_waker::<W>(target)
    }

    /// # Safety
    ///
    /// As for `clone`, and the waker must not be used again.
    unsafe fn wake(target: *const ()) {
        // SAFETY: the pointer came from `Arc::into_raw`; the count stays there.
        let target = unsafe { Arc::<W>::from_raw(target.cast()) };
        // ANCHOR: guilty
        Arc::clone(&ManuallyDrop::new(target)).wake();
        // ANCHOR_END: guilty
    }

    /// # Safety
    ///
    /// As for `clone`.
    unsafe fn wake_by_ref(target: *const ()) {
        // SAFETY: the pointer came from `Arc::into_raw`; the count stays there.
        let target = unsafe { Arc::<W>::from_raw(target.cast()) };
        ManuallyDrop::new(target).wake_by_ref();
    }

    /// # Safety
    ///
    /// As for `clone`, and the waker must not be used again.
    unsafe fn drop(target: *const ()) {
        // SAFETY: the pointer came from `Arc::into_raw`; its count is given up.
        unsafe { Arc::<W>::decrement_strong_count(target.cast()) };
    }
}
// ANCHOR_END: bug

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/03-raw-waker/src/tests/mod.rs"]
mod tests;
