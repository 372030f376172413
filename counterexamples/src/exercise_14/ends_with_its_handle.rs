//! Breaks clause 1: Every task runs.
//! Caught by: a_new_runtime_runs_a_task_at_once
//! Also fails: a_long_interval_does_not_delay_the_end
//! Also fails: a_runtime_dropped_by_a_task_of_another_is_waited_for
//! Also fails: what_a_queued_task_spawns_as_it_is_dropped_ends_too
//! Also fails: a_runtime_may_be_dropped_by_its_own_task
//! Also fails: a_yield_lets_the_ready_tasks_run_first
//! Also fails: an_aborted_task_is_dropped
//! Also fails: any_interval_will_do
//! Also fails: as_many_woken_tasks_run_as_there_are_workers
//! Also fails: destructors_may_spawn_and_wake_during_shutdown
//! Also fails: destructors_of_queued_tasks_may_wake_others
//! Also fails: many_wake_ups_are_one_poll
//! Also fails: shutdown_does_not_run_what_is_queued
//! Also fails: shutdown_drops_every_task
//! Also fails: the_queue_behind_a_long_poll_is_stolen
//! Also fails: what_a_worker_has_taken_does_not_go_back
//!
//! Nobody waits for the output any more, so the work would be in vain: a handle
//! that is dropped ends its task. There are runtimes that do so. Here whoever
//! spawns a task for its effects, and keeps no handle, finds that it has none.

use ::{run_queue, sleepers};

super::parts! {
    builder context end handle injector owner runtime search shared slot
    start worker all others
}

mod task {
    use std::pin::Pin;
    use std::task::{Context, Poll};

    pub use ::task::{
        JoinError, OwnedTasks, Runnable, Schedule, YieldNow, yield_now,
    };

    /// Makes a task that ends with its handle.
    pub fn spawn<F, S>(
        future: F,
        scheduler: S,
    ) -> (Runnable<S>, JoinHandle<F::Output>)
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
        S: Schedule,
    {
        let (task, handle) = ::task::spawn(future, scheduler);
        (task, JoinHandle(handle))
    }

    /// Awaits the result of a task. To drop it ends the task.
    #[derive(Debug)]
    pub struct JoinHandle<T>(::task::JoinHandle<T>);

    impl<T> JoinHandle<T> {
        /// Asks for the end of the task.
        pub fn abort(&self) {
            self.0.abort();
        }

        /// Returns `true` if the result is there or was taken.
        pub fn is_finished(&self) -> bool {
            self.0.is_finished()
        }
    }

    impl<T> Future for JoinHandle<T> {
        type Output = Result<T, JoinError>;

        fn poll(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Self::Output> {
            Pin::new(&mut self.0).poll(cx)
        }
    }

    impl<T> Drop for JoinHandle<T> {
        fn drop(&mut self) {
            self.abort();
        }
    }
}
