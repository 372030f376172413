//! Breaks clause 1: Kept alive.
//! Caught by: each_clone_keeps_the_target_alive
//! Also fails: any_number_of_clones_keep_the_target_alive
//! Also fails: the_target_is_dropped_with_its_last_clone
//! Also fails: wake_uses_up_the_count_of_its_waker
//! Also fails: a_panic_in_wake_gives_the_count_back_once
//! Also fails: a_target_of_any_shape_is_woken_and_dropped
//! Also fails: threads_may_clone_wake_and_drop_at_once
//! Also fails: wakers_leave_no_memory_behind
//! Also fails: two_threads_use_up_their_wakers_at_once
//! Also fails: tests::after_any_calls_the_counts_are_right
//!
//! `clone` passes on the new count, by `into_raw`, inside a `debug_assert!`. In
//! a release build the assertion is compiled away, and `into_raw` with it, so
//! that the count is given back at the end of `clone`.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::Arc;
use std::task::{RawWaker, RawWakerVTable, Wake, Waker};

pub use raw_waker::block_on;

/// Creates a waker that wakes `target`.
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
        // SAFETY: the pointer came from `Arc::into_raw`; the count stays there.
        let own = unsafe { Arc::<W>::from_raw(target.cast()) };
        let of_clone = Arc::clone(&ManuallyDrop::new(own));
        debug_assert!(
            ptr::eq(Arc::into_raw(of_clone), target.cast()),
            "a clone points to the same target"
        );
        raw_waker::<W>(target)
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
