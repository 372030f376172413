//! The pool from its owner's point of view: how it begins, and how it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use primitives::thread;

use super::JoinHandle;
use super::shared::Shared;
use super::task::Task;
use super::work::work;

/// The workers, as `lib.rs` describes them.
pub struct Pool {
    handle: Handle,
    threads: Vec<thread::JoinHandle<()>>,
}

/// Spawns onto a [`Pool`], from any thread. It doesn't keep the pool running.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

impl Pool {
    /// Creates a pool and starts its workers.
    ///
    /// # Panics
    ///
    /// Panics if `workers` is zero, or if the system can't start that many
    /// threads.
    pub fn new(workers: usize) -> Self {
        assert!(workers > 0, "a pool without workers polls no task");
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

    /// Returns a handle for spawning where the pool is out of reach.
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
        // Relaxed: the numbers only have to differ.
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
    // ANCHOR: drop
    fn drop(&mut self) {
        let shared = &self.handle.shared;
        for task in shared.shut_down().into_values() {
            // A task that is being polled ends with its poll.
            task.cancel();
        }
        if shared.is_employer() {
            return;
        }
        for thread in self.threads.drain(..) {
            thread.join().expect("a worker doesn't panic");
        }
    }
    // ANCHOR_END: drop
}
