//! The runtime itself: its threads, and how it ends.

use std::io;

use primitives::thread;

use super::builder::Builder;
use super::context::{self, EnterGuard};
use super::handle::{BlockingHandle, Handle, JoinHandle};

/// A work-stealing scheduler with its threads.
///
/// Dropping it ends the threads, and drops all tasks.
pub struct Runtime {
    handle: Handle,
    workers: Vec<thread::JoinHandle<()>>,
}

impl Runtime {
    /// Makes a runtime with as many workers as there are processors.
    ///
    /// # Errors
    ///
    /// If a thread can't be started.
    pub fn new() -> io::Result<Self> {
        Self::builder().build()
    }

    /// Returns a builder, for a runtime with other settings.
    pub fn builder() -> Builder {
        Builder::new()
    }

    pub(crate) fn new_empty(handle: Handle) -> Self {
        Self {
            handle,
            workers: Vec::new(),
        }
    }

    pub(crate) fn add_worker(&mut self, worker: thread::JoinHandle<()>) {
        self.workers.push(worker);
    }

    /// Runs `future` to its end on this thread.
    ///
    /// # Panics
    ///
    /// Within a task or another `block_on`, and if `future` panics.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let _blocked = context::BlockOnGuard::new();
        let _inside = context::EnterScope::new(self.handle.shared().clone());
        block_on::block_on(future)
    }

    /// Spawns a task.
    ///
    /// If a thread spawns or wakes thousands of tasks while the workers are far
    /// behind, it lets other threads run after every 1,024th task.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// Runs `job` on a thread where it may block.
    pub fn spawn_blocking<F, T>(&self, job: F) -> BlockingHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.handle.spawn_blocking(job)
    }

    /// Returns a handle, for other threads and for later.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Makes this the runtime that free functions use on this thread, until
    /// the guard is dropped.
    pub fn enter(&self) -> EnterGuard<'_> {
        self.handle.enter()
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        let shared = self.handle.shared();
        if context::worker_of(shared).is_some() {
            // In one of its own tasks: this worker can't end before we return.
            return shared.shut_down_detached();
        }
        shared.shut_down();
        for worker in self.workers.drain(..) {
            worker.join().expect("workers do not panic");
        }
        shared.end_blocking();
    }
}
