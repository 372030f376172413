//! Breaks clause 2: Given back.
//! Caught by: wakers_leave_no_memory_behind
//! Also fails: a_clone_is_seen_to_be_the_same_waker
//!
//! A waker wants a `&'static` vtable. A `static` cannot be generic, so each
//! waker gets a box of its own that is leaked. It is never freed, and no two
//! wakers have the same.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::task::{RawWaker, RawWakerVTable, Wake, Waker};

pub use raw_waker::block_on;

/// Makes a waker that wakes `target`.
pub fn waker<W: Wake + Send + Sync + 'static>(target: Arc<W>) -> Waker {
    let raw = raw_waker::<W>(Arc::into_raw(target).cast());
    // SAFETY: the pointer is what the vtable's functions work on.
    unsafe { Waker::from_raw(raw) }
}

fn raw_waker<W: Wake + Send + Sync + 'static>(target: *const ()) -> RawWaker {
    RawWaker::new(target, VtableOf::<W>::leaked())
}

struct VtableOf<W>(PhantomData<W>);

impl<W: Wake + Send + Sync + 'static> VtableOf<W> {
    fn leaked() -> &'static RawWakerVTable {
        Box::leak(Box::new(RawWakerVTable::new(
            Self::clone,
            Self::wake,
            Self::wake_by_ref,
            Self::drop,
        )))
    }

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
