//! The runtime itself: its threads, and how it ends.

use std::io;

use primitives::thread;

use super::builder::Builder;
use super::context::{self, EnterGuard};
use super::handle::{BlockingHandle, Handle, JoinHandle};

/// A work-stealing scheduler with its threads.
///
/// Dropping it ends them, and drops all tasks.
pub struct Runtime {
    handle: Handle,
    workers: Vec<thread::JoinHandle<()>>,
}

impl Runtime {
    /// Makes a runtime with as many workers as there are processors.
    ///
    /// # Errors
    ///
    /// If the system has no thread left.
    pub fn new() -> io::Result<Self> {
        Self::builder().build()
    }

    /// Makes a runtime of another kind.
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
    /// Within a task or another `block_on`, and if `future` does.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let _blocked = context::BlockOnGuard::new();
        let _inside = context::EnterScope::new(self.handle.shared().clone());
        block_on::block_on(future)
    }

    /// Spawns a task.
    ///
    /// A thread that spawns or wakes thousands of tasks while the workers are
    /// far behind is held up: after each 1,024th it lets other threads run.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// Runs a job that blocks, on a thread of its own.
    pub fn spawn_blocking<F, T>(&self, job: F) -> BlockingHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.handle.spawn_blocking(job)
    }

    /// Makes a handle, for other threads and for later.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Lets this thread use the free functions, as long as the guard is there.
    pub fn enter(&self) -> EnterGuard<'_> {
        self.handle.enter()
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        let shared = self.handle.shared();
        if context::worker_of(shared).is_some() {
            // In one of its own tasks: that worker cannot end before we return.
            return shared.shut_down_detached();
        }
        shared.shut_down();
        for worker in self.workers.drain(..) {
            worker.join().expect("workers do not panic");
        }
        shared.end_blocking();
    }
}
