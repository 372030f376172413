//! Breaks clause 8: Abort.
//! Caught by: models::an_abort_ends_a_task_once_in_whatever_order
//!
//! What was aborted has no result that one would have to wait for: so the handle
//! says at once that it was cancelled. The future is dropped when a worker comes
//! to it. Whoever awaits the handle so as to be sure that what the task had is
//! free again, finds that it is not, now and then.

use ::{run_queue, sleepers};

super::parts! {
    builder context end handle injector owner runtime search shared slot
    start worker models all others but tests
}

mod task {
    use std::pin::Pin;
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    use std::task::{Context, Poll};

    pub use ::task::{
        JoinError, OwnedTasks, Runnable, Schedule, YieldNow, yield_now,
    };

    /// Makes a task with a handle that is ready once it was aborted.
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
        let is_aborted = AtomicBool::new(false);
        (task, JoinHandle { handle, is_aborted })
    }

    /// Awaits the result of a task.
    #[derive(Debug)]
    pub struct JoinHandle<T> {
        handle: ::task::JoinHandle<T>,
        is_aborted: AtomicBool,
    }

    impl<T> JoinHandle<T> {
        /// Asks for the end of the task.
        pub fn abort(&self) {
            self.is_aborted.store(true, SeqCst);
            self.handle.abort();
        }

        /// Returns `true` if the result is there or was taken.
        pub fn is_finished(&self) -> bool {
            self.handle.is_finished()
        }
    }

    impl<T> Future for JoinHandle<T> {
        type Output = Result<T, JoinError>;

        fn poll(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Self::Output> {
            if *self.is_aborted.get_mut() && !self.is_finished() {
                return Poll::Ready(Err(JoinError::cancelled()));
            }
            Pin::new(&mut self.handle).poll(cx)
        }
    }
}
