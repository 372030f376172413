//! Breaks clause 4: Wake by reference.
//! Caught by: wake_by_ref_calls_wake_by_ref_of_the_target_once
//! Also fails: a_waker_works_on_a_thread_that_did_not_make_it
//! Also fails: threads_may_clone_wake_and_drop_at_once
//!
//! Wakes by reference as by value, with a count more: the count is right, and so
//! is the wake-up. But the target's own `wake_by_ref`, which may do without that
//! count, is never called.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::task::{RawWaker, RawWakerVTable, Wake, Waker};

pub use raw_waker::block_on;

/// Makes a waker that wakes `target`.
pub fn waker<W: Wake + Send + Sync + 'static>(target: Arc<W>) -> Waker {
    let target = Arc::into_raw(target).cast();
    // SAFETY: the pointer is what the vtable's functions work on.
    unsafe { Waker::from_raw(raw_waker::<W>(target)) }
}

#[inline(never)]
fn raw_waker<W: Wake + Send + Sync + 'static>(target: *const ()) -> RawWaker {
    RawWaker::new(target, VtableOf::<W>::VTABLE)
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
        // SAFETY: the pointer came from `Arc::into_raw`; the waker has a count.
        unsafe { Arc::<W>::increment_strong_count(target.cast()) };
        raw_waker::<W>(target)
    }

    /// # Safety
    ///
    /// As for `clone`; the waker must not be used again.
    unsafe fn wake(target: *const ()) {
        // SAFETY: the pointer came from `Arc::into_raw`; its count is taken.
        let target = unsafe { Arc::<W>::from_raw(target.cast()) };
        target.wake();
    }

    /// # Safety
    ///
    /// As for `clone`.
    unsafe fn wake_by_ref(target: *const ()) {
        // SAFETY: the pointer came from `Arc::into_raw`; the count stays there.
        let target = unsafe { Arc::<W>::from_raw(target.cast()) };
        Arc::clone(&ManuallyDrop::new(target)).wake();
    }

    /// # Safety
    ///
    /// As for `clone`; the waker must not be used again.
    unsafe fn drop(target: *const ()) {
        // SAFETY: the pointer came from `Arc::into_raw`; its count is given up.
        unsafe { Arc::<W>::decrement_strong_count(target.cast()) };
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/03-raw-waker/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/03-raw-waker/src/tests/mod.rs"]
mod tests;
