//! Breaks clause 8: Abort.
//! Caught by: an_aborted_task_is_dropped
//! Also fails: a_panic_harms_nobody_else
//!
//! To abort sets a flag, and the task looks at it before each poll. Nobody
//! wakes it for that: a task that waits goes on waiting.

use ::{run_queue, sleepers, task};

super::parts! {
    builder context end injector owner runtime search shared slot start
    worker all others
}

mod handle {
    use std::pin::Pin;
    use std::ptr;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    use std::task::{Context, Poll};
    use std::time::Duration;

    use sleep::Sleep;
    use spawn_blocking::Job;

    use super::context::{self, Entered};
    use super::shared::Shared;

    /// Awaits what a task returns.
    pub struct JoinHandle<T> {
        /// Gives `None` if the task was aborted.
        task: task::JoinHandle<Option<T>>,
        is_aborted: Arc<AtomicBool>,
    }

    impl<T> JoinHandle<T> {
        fn new<F, S>(spawn: S, future: F) -> Self
        where
            F: Future<Output = T> + Send + 'static,
            S: FnOnce(Abortable<F>) -> task::JoinHandle<Option<T>>,
        {
            let is_aborted = Arc::new(AtomicBool::new(false));
            let abortable = Abortable {
                future: Some(Box::pin(future)),
                is_aborted: is_aborted.clone(),
            };
            let task = spawn(abortable);
            Self { task, is_aborted }
        }

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
        type Output = Result<T, task::JoinError>;

        fn poll(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Self::Output> {
            let poll = Pin::new(&mut self.task).poll(cx);
            poll.map_ok(|output| output.ok_or_else(task::JoinError::cancelled))
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

    /// What a blocking job returns, to be awaited.
    pub type BlockingHandle<T> = spawn_blocking::JoinHandle<T>;

    /// Does what a [`Runtime`](super::Runtime) does, from anywhere and as long as that is there.
    /// What is spawned later is cancelled.
    #[derive(Clone)]
    pub struct Handle {
        shared: Arc<Shared>,
    }

    impl Handle {
        pub(crate) fn new(shared: Arc<Shared>) -> Self {
            Self { shared }
        }

        pub(crate) fn shared(&self) -> &Arc<Shared> {
            &self.shared
        }

        /// See [`Runtime::spawn`](super::Runtime::spawn).
        #[inline]
        pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
        where
            F: Future + Send + 'static,
            F::Output: Send + 'static,
        {
            JoinHandle::new(|future| self.shared.spawn(future), future)
        }

        /// See
        /// [`Runtime::spawn_blocking`](super::Runtime::spawn_blocking).
        pub fn spawn_blocking<F, T>(&self, job: F) -> BlockingHandle<T>
        where
            F: FnOnce() -> T + Send + 'static,
            T: Send + 'static,
        {
            let handle = self.clone();
            let job = move || {
                let _entered = handle.enter();
                job()
            };
            match self.shared.blocking() {
                Some(pool) => pool.spawn_blocking(job),
                // A job that is dropped is cancelled.
                None => Job::new(job).1,
            }
        }

        /// See [`Runtime::enter`](super::Runtime::enter).
        pub fn enter(&self) -> Entered<'_> {
            Entered::new(self.shared.clone())
        }
    }

    /// Spawns a task on the runtime that this thread has entered.
    ///
    /// # Panics
    ///
    /// If it has entered none.
    #[inline]
    #[track_caller]
    pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        // SAFETY: of the user's code only destructors of tasks may run here, after the
        // end of the runtime, and tasks are `'static`.
        let runtime = unsafe { context::expect_current() };
        JoinHandle::new(|future| runtime.spawn(future), future)
    }

    /// Runs a job that blocks, on a thread of the runtime that this thread has
    /// entered.
    ///
    /// # Panics
    ///
    /// If it has entered none.
    #[track_caller]
    pub fn spawn_blocking<F, T>(job: F) -> BlockingHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        current_handle().spawn_blocking(job)
    }

    /// Makes a future that is ready once `duration` has passed, on the runtime that
    /// this thread has entered.
    ///
    /// # Panics
    ///
    /// If it has entered none.
    #[track_caller]
    pub fn sleep(duration: Duration) -> Sleep {
        // SAFETY: the reference is not used.
        let _ = unsafe { context::expect_current() };
        sleep::sleep(duration)
    }

    #[track_caller]
    fn current_handle() -> Handle {
        // SAFETY: no code of the user's runs here.
        let shared = ptr::from_ref(unsafe { context::expect_current() });
        // SAFETY: it lives in an `Arc`, which the thread's context keeps.
        unsafe { Arc::increment_strong_count(shared) };
        // SAFETY: as above, and the count is ours.
        Handle::new(unsafe { Arc::from_raw(shared) })
    }
}
