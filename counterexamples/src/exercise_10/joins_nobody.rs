//! Breaks clause 11: Shutdown.
//! Caught by: dropping_the_pool_waits_for_polls_and_threads
//! Also fails: a_destructor_that_panics_as_the_pool_ends_harms_nobody
//! Also fails: a_task_that_is_polled_as_the_pool_ends_ends_with_the_poll
//! Also fails: a_task_that_drops_another_pool_waits_for_it
//! Also fails: models::dropping_the_pool_ends_workers_and_tasks_in_every_order
//!
//! The workers are told to end, and they do, soon. But whoever has dropped the
//! pool believes that no task runs any more, and takes away what the polls
//! still use.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use sync::thread;

use shared::Shared;
use task::Task;
use work::work;

pub use local_executor::{JoinError, JoinHandle};

/// Runs tasks on threads of its own, the workers.
pub struct Pool {
    handle: Handle,
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
        let pool = Self {
            handle: Handle {
                shared: Arc::default(),
            },
        };
        for _ in 0..workers {
            let shared = pool.handle.shared.clone();
            let builder = thread::Builder::new().name("worker".into());
            let thread = builder.spawn(move || shared.work());
            // If it panics here, the workers end with the pool.
            drop(thread.expect("a worker can be started"));
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
        let (work, handle) = work(future);
        let task = Task::new(self.shared.clone(), number, work);
        if !self.shared.admit(&task) {
            task.cancel();
        }
        handle
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for task in self.handle.shared.shut_down().into_values() {
            // A task that is polled just now ends with its poll.
            task.cancel();
        }
    }
}

#[expect(dead_code, reason = "nobody asks who works for whom")]
#[path = "../../../solutions/10-one-queue/src/shared.rs"]
mod shared;
#[path = "../../../solutions/10-one-queue/src/task.rs"]
mod task;
#[path = "../../../solutions/10-one-queue/src/work.rs"]
mod work;

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/10-one-queue/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/10-one-queue/src/tests/mod.rs"]
mod tests;
