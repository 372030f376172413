//! Breaks clause 8: Any target.
//! Caught by: a_target_of_any_shape_is_woken_and_dropped
//!
//! A clone only has to add one, so it adds one: in memory the two counts of
//! an `Arc` stand right before its value. Unless the value's alignment asks
//! for a gap between.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{RawWaker, RawWakerVTable, Wake, Waker};

pub use raw_waker::block_on;

/// Makes a waker that wakes `target`.
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
        let strong_count = target.cast::<AtomicUsize>().wrapping_sub(2);
        // SAFETY: wrong, and this is the bug: the count may stand elsewhere.
        unsafe { &*strong_count }.fetch_add(1, Relaxed);
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
        ManuallyDrop::new(target).wake_by_ref();
    }

    /// # Safety
    ///
    /// As for `clone`; the waker must not be used again.
    unsafe fn drop(target: *const ()) {
        // SAFETY: the pointer came from `Arc::into_raw`; its count is given up.
        unsafe { Arc::<W>::decrement_strong_count(target.cast()) };
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/03-raw-waker/src/tests/mod.rs"]
mod tests;
