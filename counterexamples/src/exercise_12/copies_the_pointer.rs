//! Breaks clause 6: Wakers.
//! Caught by: a_waker_may_be_used_long_after_the_end
//! Also fails: the_block_is_freed_with_the_last_who_knows_it
//!
//! A task that has not ended is alive, so a waker needs no reference to wake it:
//! two words are copied, and dropped, as they are. But the waker does not know
//! whether the task has ended. It looks into the block to find out.

super::parts! { cell holder owned runnable slot state right waker all others }

/// Makes wakers that count nothing.
mod waker {
    use std::mem::ManuallyDrop;
    use std::ptr::{self, NonNull};
    use std::task::{RawWaker, RawWakerVTable, Waker};

    use super::cell::Header;
    use super::right;

    static VTABLE: RawWakerVTable = RawWakerVTable::new(
        |task| RawWaker::new(task, &VTABLE),
        // SAFETY: wrong: the task may be gone.
        |task| unsafe { right::wake_by_ref(task) },
        right::wake_by_ref,
        |_| {},
    );

    /// # Safety
    ///
    /// The caller must hold the task.
    pub unsafe fn borrowed(task: NonNull<Header>) -> ManuallyDrop<Waker> {
        let raw = RawWaker::new(task.as_ptr().cast_const().cast(), &VTABLE);
        // SAFETY: the task is alive while it is polled.
        ManuallyDrop::new(unsafe { Waker::from_raw(raw) })
    }

    pub fn is_of(waker: &Waker, task: *const ()) -> bool {
        waker.data() == task && ptr::eq(waker.vtable(), &VTABLE)
    }
}
