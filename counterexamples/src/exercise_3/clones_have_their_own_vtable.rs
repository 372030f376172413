//! Breaks clause 5: Same waker.
//! Caught by: a_clone_is_seen_to_be_the_same_waker
//!
//! The first waker and its clones are told apart by their vtables, to count
//! the clones for a statistic. `will_wake` tells them apart too.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{RawWaker, RawWakerVTable, Wake, Waker};

pub use raw_waker::block_on;

static LIVING_CLONES: AtomicUsize = AtomicUsize::new(0);

/// How many clones of wakers there are.
pub fn living_clones() -> usize {
    LIVING_CLONES.load(Relaxed)
}

/// Makes a waker that wakes `target`.
pub fn waker<W: Wake + Send + Sync + 'static>(target: Arc<W>) -> Waker {
    let target = Arc::into_raw(target).cast();
    // SAFETY: the pointer is what the vtable's functions work on.
    unsafe { Waker::new(target, VtableOf::<W>::FIRST) }
}

struct VtableOf<W>(PhantomData<W>);

impl<W: Wake + Send + Sync + 'static> VtableOf<W> {
    const FIRST: &'static RawWakerVTable = &RawWakerVTable::new(
        Self::clone,
        Self::wake,
        Self::wake_by_ref,
        Self::drop,
    );

    const OF_CLONES: &'static RawWakerVTable = &RawWakerVTable::new(
        Self::clone,
        Self::wake_clone,
        Self::wake_by_ref,
        Self::drop_clone,
    );

    /// # Safety
    ///
    /// The caller must pass the pointer of a living waker of a `W`.
    unsafe fn clone(target: *const ()) -> RawWaker {
        // SAFETY: the pointer came from `Arc::into_raw`; the waker has a count.
        unsafe { Arc::<W>::increment_strong_count(target.cast()) };
        LIVING_CLONES.fetch_add(1, Relaxed);
        RawWaker::new(target, Self::OF_CLONES)
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

    /// # Safety
    ///
    /// As for `clone`; the waker must not be used again.
    unsafe fn wake_clone(target: *const ()) {
        LIVING_CLONES.fetch_sub(1, Relaxed);
        // SAFETY: passed on from the caller.
        unsafe { Self::wake(target) };
    }

    /// # Safety
    ///
    /// As for `clone`; the waker must not be used again.
    unsafe fn drop_clone(target: *const ()) {
        LIVING_CLONES.fetch_sub(1, Relaxed);
        // SAFETY: passed on from the caller.
        unsafe { Self::drop(target) };
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/03-raw-waker/src/tests/mod.rs"]
mod tests;
