//! Breaks clause 4: Scheduled once.
//! Caught by: a_wake_up_schedules_a_task_that_waits
//! Also fails: an_abort_during_a_poll_that_yields_counts
//! Also fails: a_dropped_handle_detaches_its_task
//! Also fails: a_panic_of_the_scheduler_cancels_the_task
//! Also fails: a_panicking_waker_of_the_handle_harms_nobody
//! Also fails: a_task_is_listed_while_it_may_wait
//! Also fails: a_task_that_has_ended_is_never_polled_again
//! Also fails: a_wake_up_during_a_poll_is_not_lost
//! Also fails: a_waker_that_panics_in_a_poll_of_the_handle_is_not_kept
//! Also fails: a_yield_goes_to_the_scheduler_without_a_wake_up
//! Also fails: models::a_wake_up_counts_in_every_order
//! Also fails: models::what_was_written_before_any_wake_up_is_seen
//! Also fails: running_waking_and_awaiting_allocate_nothing
//! Also fails: the_block_is_freed_with_the_last_who_knows_it
//! Also fails: the_handle_wakes_the_waker_of_its_last_poll
//! Also fails: thousands_of_wake_ups_from_another_thread_all_arrive
//! Also fails: threads_may_use_the_wakers_of_a_task_at_once
//! Also fails: wakers_that_look_alike_are_told_apart
//! Also fails: what_is_linked_behind_a_runnable_that_runs_is_cancelled
//! Also fails: a_waker_that_ends_the_task_as_it_is_cloned_loses_no_output
//! Also fails: closing_the_list_finds_each_of_many_tasks
//!
//! `wake` uses the waker up, so it gives its reference back. And so says the
//! vtable: the same function as for `drop`. Most futures wake by reference, and
//! never find out; a channel that takes the waker out of a slot wakes nobody.

super::parts! { cell holder owned runnable slot state right waker all others }

/// Has a vtable of its own.
mod waker {
    use std::mem::ManuallyDrop;
    use std::ptr::{self, NonNull};
    use std::task::{RawWaker, RawWakerVTable, Waker};

    use super::cell::Header;
    use super::right;

    static VTABLE: RawWakerVTable = RawWakerVTable::new(
        clone,
        right::release,
        right::wake_by_ref,
        right::release,
    );

    /// # Safety
    ///
    /// The caller must hold the task.
    pub unsafe fn borrowed(task: NonNull<Header>) -> ManuallyDrop<Waker> {
        let raw = RawWaker::new(task.as_ptr().cast_const().cast(), &VTABLE);
        // SAFETY: it has no reference, and gives none back.
        ManuallyDrop::new(unsafe { Waker::from_raw(raw) })
    }

    /// # Safety
    ///
    /// The caller must pass the pointer of a waker that is there.
    unsafe fn clone(task: *const ()) -> RawWaker {
        // SAFETY: passed on; the clone has a reference now.
        let _of_the_solution = unsafe { right::clone(task) };
        RawWaker::new(task, &VTABLE)
    }

    pub fn is_of(waker: &Waker, task: *const ()) -> bool {
        waker.data() == task && ptr::eq(waker.vtable(), &VTABLE)
    }
}
