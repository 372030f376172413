//! Breaks clause 3: When run.
//! Caught by: spawn_neither_polls_nor_schedules
//! Also fails: an_abort_during_a_poll_that_yields_counts
//! Also fails: a_scheduler_of_any_alignment_is_found
//! Also fails: a_handle_waits_for_the_end_of_an_aborted_task
//! Also fails: a_dropped_handle_detaches_its_task
//! Also fails: a_panic_of_the_future_reaches_the_handle
//! Also fails: a_panicking_waker_of_the_handle_harms_nobody
//! Also fails: a_task_is_not_scheduled_while_it_is_polled
//! Also fails: a_task_that_has_ended_is_never_polled_again
//! Also fails: a_task_that_waits_after_the_close_is_cancelled
//! Also fails: a_wake_up_during_a_poll_is_not_lost
//! Also fails: a_wake_up_schedules_a_task_that_waits
//! Also fails: a_waker_may_be_used_long_after_the_end
//! Also fails: a_yield_goes_to_the_scheduler_without_a_wake_up
//! Also fails: a_yield_wakes_a_waker_that_is_not_the_tasks
//! Also fails: an_abort_during_a_poll_waits_for_its_end
//! Also fails: an_abort_ends_a_task_that_waits_or_is_queued
//! Also fails: closing_the_list_cancels_the_tasks_that_wait
//! Also fails: each_run_polls_once
//! Also fails: future_and_output_are_dropped_once_whatever_happens
//! Also fails: many_wake_ups_are_one_poll
//! Also fails: the_block_is_freed_with_the_last_who_knows_it
//! Also fails: the_future_is_gone_before_the_handle_is_ready
//!
//! Many futures are ready at once, and then a task need not be queued for long:
//! `spawn` polls it, and the first `run` finds the result. So code runs in the
//! midst of whoever spawns, which may hold a lock that this code wants.

super::parts! { holder owned runnable slot state waker right cell all others }

/// Polls each task that it allocates.
mod cell {
    use std::ptr::NonNull;
    use std::task::{Context, Poll};

    use super::right::{self, Cell, Stage};
    pub use super::right::{
        Header, Vtable, drop_scheduler, ignore_panics, scheduler_of, take_link,
    };
    use super::{Schedule, waker};

    struct Eager<F, S>(std::marker::PhantomData<(F, S)>);

    impl<F, S> Eager<F, S>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
        S: Schedule,
    {
        const VTABLE: &'static Vtable = &Vtable {
            poll: Self::poll,
            ..*Cell::<F, S>::VTABLE
        };

        unsafe fn poll(
            task: NonNull<Header>,
            cx: &mut Context<'_>,
        ) -> Poll<()> {
            // SAFETY: the vtable is of this type, and the caller holds the task.
            let stage = unsafe { Cell::<F, S>::stage(task) };
            let was_ready = stage.with_mut(|stage| {
                // SAFETY: only the holder touches the stage.
                let stage = unsafe { &*stage };
                matches!(stage, Stage::Ended(_))
            });
            if was_ready {
                return Poll::Ready(());
            }
            // SAFETY: passed on.
            unsafe { (Cell::<F, S>::VTABLE.poll)(task, cx) }
        }
    }

    pub fn allocate<F, S>(future: F, scheduler: S) -> NonNull<Header>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
        S: Schedule,
    {
        let mut task = right::allocate(future, scheduler);
        // SAFETY: the task is new, and nobody else knows it.
        let header = unsafe { task.as_mut() };
        header.vtable = Eager::<F, S>::VTABLE;
        // SAFETY: the task is held by us, and not freed meanwhile.
        let waker = unsafe { waker::borrowed(task) };
        let mut cx = Context::from_waker(&waker);
        // SAFETY: as above. If it is ready, the first `run` finds that.
        let _ = unsafe { (header.vtable.poll)(task, &mut cx) };
        task
    }
}
