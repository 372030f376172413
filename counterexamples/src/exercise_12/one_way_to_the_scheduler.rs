//! Breaks clause 16: Yield.
//! Caught by: a_yield_goes_to_the_scheduler_without_a_wake_up
//! Also fails: a_yield_of_a_poll_that_ends_the_task_is_nobody_elses
//! Also fails: a_panic_of_the_scheduler_cancels_the_task
//! Also fails: a_yield_wakes_a_waker_that_is_not_the_tasks
//! Also fails: what_is_linked_behind_a_runnable_that_runs_is_cancelled
//!
//! A task that is to run again goes to its scheduler, and there is a function
//! for that. But the scheduler wants to know why: one that was woken may come
//! next, and one that yields wants all the others to come before it.

super::parts! { cell owned runnable slot state waker right holder all others }

/// Schedules whoever is to run again.
mod holder {
    use std::ptr::NonNull;
    use std::task::{Context, Poll};

    use super::cell::Header;
    pub use super::right::{cancel, end, give_up, schedule};
    use super::state::{Pending, Turn};
    use super::{Schedule, owned, waker, yields};

    /// Polls the task once.
    ///
    /// # Safety
    ///
    /// The caller must hold the task, whose scheduler is an `S`, and gives it
    /// up.
    pub unsafe fn run<S: Schedule>(task: NonNull<Header>) {
        // SAFETY: the caller holds the task.
        let header = unsafe { task.as_ref() };
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
            return unsafe { schedule::<S>(task) };
        }
        // SAFETY: the caller holds the task.
        if !unsafe { owned::enter::<S>(task) } {
            // SAFETY: passed on.
            return unsafe { cancel::<S>(task) };
        }
        match header.state.let_go() {
            Pending::Waits => {}
            // SAFETY: passed on.
            Pending::Notified => unsafe { schedule::<S>(task) },
            // SAFETY: passed on.
            Pending::Cancelled => unsafe { cancel::<S>(task) },
        }
    }
}
