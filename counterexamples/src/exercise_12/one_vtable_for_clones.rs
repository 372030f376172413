//! Breaks clause 6: Wakers.
//! Caught by: wakers_of_one_task_are_known_to_be_the_same
//!
//! The waker of a poll has no reference, so that its `drop` must do nothing: it
//! gets a vtable of its own, and its clones another one. They wake the same
//! task, and `will_wake` says no. Whoever keeps a waker clones it anew at each
//! poll.

super::parts! { cell holder owned runnable slot state right waker all others }

/// Gives the waker of a poll a vtable of its own.
mod waker {
    use std::mem::ManuallyDrop;
    use std::ptr::{self, NonNull};
    use std::task::{RawWaker, RawWakerVTable, Waker};

    use super::cell::Header;
    use super::right;

    static BORROWED: RawWakerVTable = RawWakerVTable::new(
        right::clone,
        |_| unreachable!("the waker of a poll is only borrowed"),
        right::wake_by_ref,
        |_| {},
    );

    /// # Safety
    ///
    /// The caller must hold the task.
    pub unsafe fn borrowed(task: NonNull<Header>) -> ManuallyDrop<Waker> {
        let raw = RawWaker::new(task.as_ptr().cast_const().cast(), &BORROWED);
        // SAFETY: it has no reference, and gives none back.
        ManuallyDrop::new(unsafe { Waker::from_raw(raw) })
    }

    pub fn is_of(waker: &Waker, task: *const ()) -> bool {
        waker.data() == task && ptr::eq(waker.vtable(), &BORROWED)
    }
}
