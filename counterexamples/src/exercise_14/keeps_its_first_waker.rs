//! Breaks clause 7: The handle.
//! Caught by: a_handle_gives_the_output_to_any_thread
//! Also fails: a_handle_tells_wakers_at_one_address_apart
//!
//! The handle clones the waker of its first poll, and keeps it: who polls a
//! handle twice is the same task both times. But handles move.

use ::{run_queue, sleepers};

super::parts! {
    builder context end handle injector owner runtime search shared slot
    start worker all others
}

mod task {
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    pub use ::task::{
        JoinError, OwnedTasks, Runnable, Schedule, YieldNow, yield_now,
    };

    /// Makes a task and its handle.
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
        let handle = JoinHandle {
            task: handle,
            waker: None,
        };
        (task, handle)
    }

    /// Awaits what a task returns.
    pub struct JoinHandle<T> {
        task: ::task::JoinHandle<T>,
        waker: Option<Waker>,
    }

    impl<T> JoinHandle<T> {
        /// Asks for the end of the task.
        pub fn abort(&self) {
            self.task.abort();
        }

        /// Returns `true` if the task has ended.
        pub fn is_finished(&self) -> bool {
            self.task.is_finished()
        }
    }

    impl<T> Future for JoinHandle<T> {
        type Output = Result<T, JoinError>;

        fn poll(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Self::Output> {
            let Self { task, waker } = &mut *self;
            let waker = waker.get_or_insert_with(|| cx.waker().clone());
            Pin::new(task).poll(&mut Context::from_waker(waker))
        }
    }
}
