//! Breaks clause 1: Kept alive.
//! Caught by: a_waker_keeps_its_target_alive
//! Also fails: any_number_of_clones_keep_the_target_alive
//! Also fails: each_clone_keeps_the_target_alive
//! Also fails: the_target_is_dropped_with_its_last_clone
//! Also fails: wake_calls_wake_of_the_target_once
//! Also fails: wake_uses_up_the_count_of_its_waker
//! Also fails: a_target_may_keep_the_arc_that_wakes_it
//! Also fails: wake_by_ref_leaves_the_waker_its_count
//! Also fails: a_waker_works_on_a_thread_that_did_not_make_it
//! Also fails: threads_may_clone_wake_and_drop_at_once
//! Also fails: a_panic_in_wake_gives_the_count_back_once
//! Also fails: a_panic_in_wake_by_ref_leaves_the_waker_its_count
//! Also fails: a_target_of_any_shape_is_woken_and_dropped
//! Also fails: two_threads_use_up_their_wakers_at_once
//!
//! A waker should not keep a finished task alive, so it holds a `Weak` and
//! does nothing once the target is gone. But whoever hands in the `Arc` has
//! often none left: then the target is gone at once.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Weak};
use std::task::{RawWaker, RawWakerVTable, Wake, Waker};

pub use raw_waker::block_on;

/// Makes a waker that wakes `target`.
pub fn waker<W: Wake + Send + Sync + 'static>(target: Arc<W>) -> Waker {
    let raw = raw_waker(Arc::downgrade(&target));
    // SAFETY: the pointer is what the vtable's functions work on.
    unsafe { Waker::from_raw(raw) }
}

#[inline(never)]
fn raw_waker<W: Wake + Send + Sync + 'static>(target: Weak<W>) -> RawWaker {
    RawWaker::new(target.into_raw().cast(), VtableOf::<W>::VTABLE)
}

struct VtableOf<W>(PhantomData<W>);

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
        // SAFETY: the pointer came from `Weak::into_raw`; the count stays.
        let target = unsafe { Weak::<W>::from_raw(target.cast()) };
        raw_waker(Weak::clone(&ManuallyDrop::new(target)))
    }

    /// # Safety
    ///
    /// As for `clone`; the waker must not be used again.
    unsafe fn wake(target: *const ()) {
        // SAFETY: the pointer came from `Weak::into_raw`; the count is taken.
        let target = unsafe { Weak::<W>::from_raw(target.cast()) };
        if let Some(target) = target.upgrade() {
            target.wake();
        }
    }

    /// # Safety
    ///
    /// As for `clone`.
    unsafe fn wake_by_ref(target: *const ()) {
        // SAFETY: the pointer came from `Weak::into_raw`; the count stays.
        let target = unsafe { Weak::<W>::from_raw(target.cast()) };
        if let Some(target) = ManuallyDrop::new(target).upgrade() {
            target.wake_by_ref();
        }
    }

    /// # Safety
    ///
    /// As for `clone`; the waker must not be used again.
    unsafe fn drop(target: *const ()) {
        // SAFETY: the pointer came from `Weak::into_raw`; the count is taken.
        drop(unsafe { Weak::<W>::from_raw(target.cast()) });
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/03-raw-waker/src/tests/mod.rs"]
mod tests;
