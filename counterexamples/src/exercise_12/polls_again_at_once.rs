//! Breaks clause 3: When run.
//! Caught by: each_run_polls_once
//! Also fails: a_handle_waits_for_the_end_of_an_aborted_task
//! Also fails: a_future_of_any_alignment_stays_in_its_place
//! Also fails: a_panic_of_the_future_reaches_the_handle
//! Also fails: a_panic_of_the_scheduler_cancels_the_task
//! Also fails: a_task_is_not_scheduled_while_it_is_polled
//! Also fails: a_wake_up_during_a_poll_is_not_lost
//! Also fails: future_and_output_are_dropped_once_whatever_happens
//! Also fails: what_is_linked_behind_a_runnable_that_runs_is_cancelled
//!
//! The task was woken while it was polled, so it is polled again: it is in the
//! cache, and the way through the queue costs something. Two tasks that wake
//! each other never leave this loop, and whoever is in the queue behind them
//! starves.

super::parts! { cell owned runnable slot state waker right holder all others }

/// Polls again when the task was woken meanwhile.
mod holder {
    use std::ptr::NonNull;
    use std::task::{Context, Poll};

    use super::cell::Header;
    pub use super::right::{cancel, end, give_up, schedule};
    use super::runnable::Runnable;
    use super::state::{Pending, Turn};
    use super::{Schedule, owned, waker, yields};

    /// # Safety
    ///
    /// The caller must hold the task, whose scheduler is an `S`, and gives it
    /// up.
    pub unsafe fn run<S: Schedule>(task: NonNull<Header>) {
        // SAFETY: the caller holds the task.
        let header = unsafe { task.as_ref() };
        loop {
            if header.state.begin() == Turn::Cancel {
                // SAFETY: passed on.
                return unsafe { cancel::<S>(task) };
            }
            // SAFETY: the task is alive as long as we hold it.
            let waker = unsafe { waker::borrowed(task) };
            let mut cx = Context::from_waker(&waker);
            let (polled, has_yielded) = yields::watch(task, || {
                // SAFETY: the caller holds the task.
                unsafe { (header.vtable.poll)(task, &mut cx) }
            });
            if polled == Poll::Ready(()) {
                // SAFETY: passed on; the result is there.
                return unsafe { end::<S>(task) };
            }
            if has_yielded {
                // SAFETY: passed on.
                let task = unsafe { Runnable::<S>::from_header(task) };
                let scheduler = task.scheduler().clone();
                return scheduler.schedule_yielded(task);
            }
            // SAFETY: the caller holds the task.
            if !unsafe { owned::enter::<S>(task) } {
                // SAFETY: passed on.
                return unsafe { cancel::<S>(task) };
            }
            match header.state.let_go() {
                Pending::Waits => return,
                Pending::Notified => {}
                // SAFETY: passed on.
                Pending::Cancelled => return unsafe { cancel::<S>(task) },
            }
        }
    }
}
