//! Breaks clause 10: Block on.
//! Caught by: block_on_polls_on_its_own_thread
//! Also fails: block_on_is_allowed_wherever_a_thread_may_wait
//!
//! A parker for each call of `block_on` costs an allocation, so the runtime has one,
//! and a lock around it, since two threads cannot sleep by the same. They cannot be
//! in `block_on` at the same time, either.

use ::{run_queue, sleepers, task};

super::parts! {
    builder context end handle injector owner search shared slot start
    worker all others
}

mod runtime {
    use std::io;
    use std::pin::pin;
    use std::sync::{Arc, Mutex, PoisonError};
    use std::task::{Context, Poll, Wake, Waker};

    use parker::{Parker, Unparker};
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
        /// What whoever calls `block_on` sleeps by.
        parker: Mutex<Parker>,
    }

    struct Unparks(Unparker);

    impl Wake for Unparks {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
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
                parker: Mutex::new(Parker::new()),
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

            let parker = self.parker.lock();
            let parker = parker.unwrap_or_else(PoisonError::into_inner);
            let waker = Waker::from(Arc::new(Unparks(parker.unparker())));
            let mut cx = Context::from_waker(&waker);
            let mut future = pin!(future);
            loop {
                match future.as_mut().poll(&mut cx) {
                    Poll::Ready(output) => return output,
                    Poll::Pending => parker.park(),
                }
            }
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
