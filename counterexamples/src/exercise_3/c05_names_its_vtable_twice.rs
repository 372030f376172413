//! Breaks clause 5: Same waker.
//! Caught by: a_clone_is_seen_to_be_the_same_waker
//! Also fails: tests::after_any_calls_the_counts_are_right
//!
//! `waker` and `clone` both name the constant. A constant has no address of its
//! own: an optimized build copies it into each codegen unit that names it, and
//! `waker` is inlined into its caller's unit. Without optimization there
//! happens to be one copy.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::task::{RawWaker, RawWakerVTable, Wake, Waker};

pub use raw_waker::block_on;

/// Creates a waker that wakes `target`.
pub fn waker<W: Wake + Send + Sync + 'static>(target: Arc<W>) -> Waker {
    let target = Arc::into_raw(target).cast();
    // SAFETY: the pointer is what the vtable's functions work on.
    unsafe { Waker::new(target, VtableOf::<W>::VTABLE) }
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
        RawWaker::new(target, Self::VTABLE)
    }

    /// # Safety
    ///
    /// As for `clone`, and the waker must not be used again.
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
    /// As for `clone`, and the waker must not be used again.
    unsafe fn drop(target: *const ()) {
        // SAFETY: the pointer came from `Arc::into_raw`; its count is given up.
        unsafe { Arc::<W>::decrement_strong_count(target.cast()) };
    }
}

#[cfg(test)]
#[path = "../../../exercises/03-raw-waker/src/tests/mod.rs"]
mod tests;
