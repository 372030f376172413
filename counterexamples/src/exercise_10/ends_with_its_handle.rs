//! Breaks clause 7: The handle.
//! Caught by: a_task_without_a_handle_runs_on
//! Also fails: what_becomes_ready_in_a_poll_does_not_wait_for_its_end
//! Also fails: a_task_is_polled_by_one_worker_at_a_time
//! Also fails: destructors_may_spawn_and_wake_as_the_pool_ends
//!
//! Why go on with a task whose output nobody will ever see? So a task ends
//! before its next poll once its handle is gone. But a task does more than to
//! return something.

#[path = "../../../solutions/10-one-queue/src/shared.rs"]
mod shared;
#[path = "../../../solutions/10-one-queue/src/task.rs"]
mod task;
#[path = "../../../solutions/10-one-queue/src/work.rs"]
mod work;

pub use local_executor::JoinError;
pub use pool::{Handle, JoinHandle, Pool};

mod pool {
    use std::future::poll_fn;
    use std::pin::Pin;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use std::sync::{Arc, Weak};
    use std::task::{Context, Poll};

    use local_executor::JoinError;
    use sync::thread;

    use super::shared::Shared;
    use super::task::Task;
    use super::work::work;

    /// The workers, as `lib.rs` describes them.
    pub struct Pool {
        handle: Handle,
        threads: Vec<thread::JoinHandle<()>>,
    }

    /// Spawns onto a [`Pool`], from any thread. It does not keep the pool running.
    #[derive(Clone)]
    pub struct Handle {
        shared: Arc<Shared>,
    }

    impl Pool {
        /// Makes a pool and starts its workers.
        ///
        /// # Panics
        ///
        /// If `workers` is zero, or if the system has not so many threads.
        pub fn new(workers: usize) -> Self {
            assert!(workers > 0, "a pool of no workers polls no task");
            let mut pool = Self {
                handle: Handle {
                    shared: Arc::default(),
                },
                threads: Vec::new(),
            };
            for _ in 0..workers {
                let shared = pool.handle.shared.clone();
                let builder = thread::Builder::new().name("worker".into());
                let thread = builder.spawn(move || shared.work());
                // If it panics here, the workers end with the pool.
                pool.threads.push(thread.expect("a worker can be started"));
            }
            pool
        }

        /// Runs `future` as a task of the pool. The handle is a future of its
        /// output; a dropped handle detaches the task.
        pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
        where
            F: Future + Send + 'static,
            F::Output: Send + 'static,
        {
            self.handle.spawn(future)
        }

        /// Returns a handle to spawn by where the pool is out of reach.
        pub fn handle(&self) -> Handle {
            self.handle.clone()
        }
    }

    impl Handle {
        /// Runs `future` as a task of the pool, as [`Pool::spawn`] does.
        pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
        where
            F: Future + Send + 'static,
            F::Output: Send + 'static,
        {
            static COUNT: AtomicU64 = AtomicU64::new(0);
            // Relaxed: it only has to be another number each time.
            let number = COUNT.fetch_add(1, Relaxed);
            let wanted = Arc::new(());
            let (work, outcome) =
                work(while_wanted(future, Arc::downgrade(&wanted)));
            let handle = JoinHandle {
                outcome,
                _wanted: wanted,
            };
            let task = Task::new(self.shared.clone(), number, work);
            if !self.shared.admit(&task) {
                task.cancel();
            }
            handle
        }
    }

    /// Awaits the output of a task.
    pub struct JoinHandle<T> {
        outcome: local_executor::JoinHandle<Option<T>>,
        _wanted: Arc<()>,
    }

    impl<T> Future for JoinHandle<T> {
        type Output = Result<T, JoinError>;

        fn poll(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Self::Output> {
            let poll = Pin::new(&mut self.outcome).poll(cx);
            poll.map_ok(|output| output.ok_or_else(JoinError::cancelled))
                .map(Result::flatten)
        }
    }

    /// Ends `future` early if nobody wants its output any more.
    async fn while_wanted<F: Future>(
        future: F,
        wanted: Weak<()>,
    ) -> Option<F::Output> {
        let mut future = Box::pin(future);
        poll_fn(|cx| match wanted.strong_count() {
            0 => Poll::Ready(None),
            _ => future.as_mut().poll(cx).map(Some),
        })
        .await
    }

    impl Drop for Pool {
        fn drop(&mut self) {
            let shared = &self.handle.shared;
            for task in shared.shut_down().into_values() {
                // A task that is polled just now ends with its poll.
                task.cancel();
            }
            if shared.is_employer() {
                return;
            }
            for thread in self.threads.drain(..) {
                thread.join().expect("a worker does not panic");
            }
        }
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/10-one-queue/src/tests/mod.rs"]
mod tests;
