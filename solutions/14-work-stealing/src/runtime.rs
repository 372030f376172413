//! The runtime, as its users see it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use sleep::Sleep;
use spawn_blocking::Job;
use sync::thread;
use task::JoinHandle;

use super::builder::Builder;
use super::context::{self, Entered};
use super::shared::Shared;

/// What a blocking job returns, to be awaited.
pub type BlockingHandle<T> = spawn_blocking::JoinHandle<T>;

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
        let _entered = self.enter();
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
        let shared = &self.handle.shared;
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

/// Does what a [`Runtime`] does, from anywhere and as long as that is there.
/// What is spawned later is cancelled.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

impl Handle {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// See [`Runtime::spawn`].
    #[inline]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.shared.spawn(future)
    }

    /// See [`Runtime::spawn_blocking`].
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

    /// See [`Runtime::enter`].
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
    // SAFETY: to spawn runs no code of the user's before the last use of the
    // runtime; a future that is dropped at once is dropped after that.
    unsafe { context::expect_current() }.spawn(future)
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
    let shared = std::ptr::from_ref(unsafe { context::expect_current() });
    // SAFETY: it lives in an `Arc`, which the thread's context keeps.
    unsafe { Arc::increment_strong_count(shared) };
    // SAFETY: as above, and the count is ours.
    Handle::new(unsafe { Arc::from_raw(shared) })
}
