//! Breaks clause 2: One poll.
//! Caught by: many_wake_ups_are_one_poll
//!
//! No wake-up may be lost, so they are counted, and each of them gets a poll of
//! its own.

use ::{run_queue, sleepers, task};

super::parts! {
    builder context end injector owner runtime search shared slot start
    worker all others
}

mod handle {
    use std::future::poll_fn;
    use std::ptr;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Poll, Wake, Waker};
    use std::time::Duration;

    use sleep::Sleep;
    use spawn_blocking::Job;

    use super::context::{self, Entered};
    use super::shared::Shared;

    pub use super::task::JoinHandle;

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
            self.shared.spawn(counted(future))
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

    /// The wake-ups of a task that it has not been polled for.
    struct WakeUps {
        count: AtomicUsize,
        task: Mutex<Waker>,
    }

    impl Wake for WakeUps {
        fn wake(self: Arc<Self>) {
            self.count.fetch_add(1, SeqCst);
            self.task.lock().unwrap().wake_by_ref();
        }
    }

    /// Polls `future` once for each wake-up.
    async fn counted<F: Future>(future: F) -> F::Output {
        let mut future = Box::pin(future);
        let wake_ups = Arc::new(WakeUps {
            count: AtomicUsize::new(0),
            task: Mutex::new(Waker::noop().clone()),
        });
        let waker = Waker::from(wake_ups.clone());
        poll_fn(|cx| {
            wake_ups.task.lock().unwrap().clone_from(cx.waker());
            let count = wake_ups.count.swap(0, SeqCst).max(1);
            let mut polls = (0..count).map(|_| {
                future.as_mut().poll(&mut Context::from_waker(&waker))
            });
            polls.find(Poll::is_ready).unwrap_or(Poll::Pending)
        })
        .await
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
        unsafe { context::expect_current() }.spawn(counted(future))
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
