//! Breaks clause 15: Shutdown.
//! Caught by: destructors_may_spawn_and_wake_during_shutdown
//! Also fails: each_poll_counts_in_the_interval
//! Also fails: what_a_queued_task_spawns_as_it_is_dropped_ends_too
//! Also fails: a_worker_takes_from_outside_within_each_interval
//!
//! Whoever spawns and whoever ends the runtime take the same lock, so that no task
//! slips in between. The end takes its time: it waits for the workers, and they
//! drop futures. One of those spawns as it is dropped, and waits for the lock.

use ::{run_queue, sleepers, task};

super::parts! {
    builder context end right handle injector owner search shared slot start
    worker all others
}

/// Spawns under a lock.
mod handle {
    use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

    use super::context::Entered;
    use super::right;
    pub use super::right::{
        BlockingHandle, JoinHandle, sleep, spawn, spawn_blocking,
    };
    use super::shared::Shared;

    /// Does what a [`Runtime`](super::Runtime) does, from anywhere and as long as
    /// that is there. What is spawned later is cancelled.
    #[derive(Clone)]
    pub struct Handle {
        inner: right::Handle,
        spawning: Arc<Mutex<()>>,
    }

    impl Handle {
        pub(crate) fn new(shared: Arc<Shared>) -> Self {
            Self {
                inner: right::Handle::new(shared),
                spawning: Arc::default(),
            }
        }

        pub(crate) fn shared(&self) -> &Arc<Shared> {
            self.inner.shared()
        }

        /// Sees to it that nobody spawns meanwhile.
        pub(crate) fn keep_out(&self) -> MutexGuard<'_, ()> {
            let spawning = self.spawning.lock();
            spawning.unwrap_or_else(PoisonError::into_inner)
        }

        /// Spawns a task.
        pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
        where
            F: Future + Send + 'static,
            F::Output: Send + 'static,
        {
            let _turn = self.keep_out();
            self.inner.spawn(future)
        }

        /// Runs a job that blocks, on a thread of its own.
        pub fn spawn_blocking<F, T>(&self, job: F) -> BlockingHandle<T>
        where
            F: FnOnce() -> T + Send + 'static,
            T: Send + 'static,
        {
            self.inner.spawn_blocking(job)
        }

        /// Lets this thread use the free functions, as long as the guard is there.
        pub fn enter(&self) -> Entered<'_> {
            self.inner.enter()
        }
    }
}

mod runtime {
    use std::io;

    use sync::thread;

    use super::builder::Builder;
    use super::context::{self, Entered};
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
            let _blocked = context::Blocked::new();
            let _inside = context::Inside::new(self.handle.shared().clone());

            block_on::block_on(future)
        }

        /// Spawns a task.
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
        pub fn enter(&self) -> Entered<'_> {
            self.handle.enter()
        }
    }

    impl Drop for Runtime {
        fn drop(&mut self) {
            // Nobody may spawn meanwhile: that task would come too late.
            let _turn = self.handle.keep_out();
            let shared = self.handle.shared();
            if context::worker_of(shared).is_some() {
                // In one of its own tasks: that worker cannot end before we return.
                return shared.shut_down_without_us();
            }
            shared.shut_down();
            for worker in self.workers.drain(..) {
                worker.join().expect("workers do not panic");
            }
            shared.end_blocking();
        }
    }
}
