//! Breaks clause 8: Abort.
//! Caught by: an_aborted_task_is_dropped
//! Also fails: a_panic_harms_nobody_else
//!
//! To abort sets a flag, and the task looks at it before each poll. Nobody
//! wakes it for that: a task that waits goes on waiting.

use ::{run_queue, sleepers};

super::parts! {
    builder context end handle injector owner runtime search shared slot
    start worker all others
}

mod task {
    use std::pin::Pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    use std::task::{Context, Poll};

    pub use ::task::{
        JoinError, OwnedTasks, Runnable, Schedule, YieldNow, yield_now,
    };

    /// Makes a task that may be asked to end.
    pub fn spawn<F, S>(
        future: F,
        scheduler: S,
    ) -> (Runnable<S>, JoinHandle<F::Output>)
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
        S: Schedule,
    {
        let is_aborted = Arc::new(AtomicBool::new(false));
        let abortable = Abortable {
            future: Some(Box::pin(future)),
            is_aborted: is_aborted.clone(),
        };
        let (task, handle) = ::task::spawn(abortable, scheduler);
        let handle = JoinHandle {
            task: handle,
            is_aborted,
        };
        (task, handle)
    }

    /// Awaits what a task returns.
    pub struct JoinHandle<T> {
        /// Gives `None` if the task was aborted.
        task: ::task::JoinHandle<Option<T>>,
        is_aborted: Arc<AtomicBool>,
    }

    impl<T> JoinHandle<T> {
        /// Asks for the end of the task.
        pub fn abort(&self) {
            self.is_aborted.store(true, SeqCst);
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
            let poll = Pin::new(&mut self.task).poll(cx);
            poll.map_ok(|output| output.ok_or_else(JoinError::cancelled))
                .map(Result::flatten)
        }
    }

    /// A future that ends before its next poll if that is wished.
    struct Abortable<F> {
        future: Option<Pin<Box<F>>>,
        is_aborted: Arc<AtomicBool>,
    }

    impl<F: Future> Future for Abortable<F> {
        type Output = Option<F::Output>;

        fn poll(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Self::Output> {
            if self.is_aborted.load(SeqCst) {
                self.future = None;
            }
            match &mut self.future {
                Some(future) => future.as_mut().poll(cx).map(Some),
                None => Poll::Ready(None),
            }
        }
    }
}
