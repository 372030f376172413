//! The runtime, its handle, and spawning.

use std::io;
use std::time::Duration;

use budget::with_budget;

use super::builder::Builder;

pub use work_stealing::{BlockingHandle, EnterGuard, JoinHandle};

/// The time slice of a task. A task whose sockets and checkpoints are always
/// ready yields when its slice is over, so that its worker can run other tasks.
pub const SLICE: Duration = Duration::from_micros(200);

/// A runtime: worker threads that run tasks and wait for their sockets and
/// sleeps, and threads that run blocking jobs.
///
/// Dropping the runtime drops all tasks. The drop blocks the thread until the
/// current polls and all blocking jobs that have begun are over. Jobs that are
/// still queued may run before the drop returns, or they are cancelled. A
/// runtime may also be dropped in one of its own tasks, where the drop waits
/// for nothing, or in one of its own jobs, where it doesn't wait for that job.
pub struct Runtime {
    pub(crate) inner: work_stealing::Runtime,
    pub(crate) reactor: reactor::Handle,
    #[cfg(feature = "metrics")]
    pub(crate) metrics: super::metrics::Registered,
}

impl Runtime {
    /// Starts a runtime with as many workers as there are processors.
    ///
    /// # Errors
    ///
    /// Returns the operating system's error if it can't start a thread or
    /// create a poller, for example because no file descriptor is left.
    pub fn new() -> io::Result<Self> {
        Builder::new().build()
    }

    /// Runs `future` on this thread until it's ready, and returns its output.
    /// Meanwhile the workers run the tasks. Several threads may call this at
    /// the same time.
    ///
    /// The future may borrow, and needn't be `Send`. Each time its socket or
    /// sleep is ready, a worker has to unpark this thread, so put work that has
    /// to be fast into a task.
    ///
    /// # Panics
    ///
    /// If the caller is in a task or in another `block_on`, of any runtime, or
    /// if `future` panics.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        assert!(
            !super::local::is_running(),
            "`block_on` within a `block_on` of a `LocalRuntime`: its thread \
             can't wait for both futures; `.await` the inner one instead"
        );
        self.inner.block_on(with_budget(SLICE, future))
    }

    /// Spawns a task. It runs even if its handle isn't awaited.
    ///
    /// Awaiting the handle returns the task's output, or a
    /// [`JoinError`](super::JoinError) if the task panicked or was cancelled by
    /// `abort` or by the end of the runtime. Dropping the handle detaches the
    /// task, which goes on running.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.inner.spawn(as_task(future))
    }

    /// Runs a job that blocks or computes for a long time, on a thread for such
    /// jobs. See [`Builder::max_blocking_threads`] for their number.
    ///
    /// Awaiting the handle returns the job's output, or an error if the job
    /// panicked or was cancelled. A job is cancelled if the runtime has ended,
    /// or if the system can't start a thread for it. Dropping the handle
    /// detaches the job: a job that has begun can't be stopped.
    pub fn spawn_blocking<F, T>(&self, job: F) -> BlockingHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.inner.spawn_blocking(job)
    }

    /// Lets this thread use the functions that need a runtime, such as
    /// [`spawn`] and [`sleep`](super::sleep()), until the guard is dropped.
    /// Drop nested guards in the reverse order of their creation.
    pub fn enter(&self) -> EnterGuard<'_> {
        self.inner.enter()
    }

    /// Returns a handle, which other threads can use and which may outlive the
    /// runtime.
    pub fn handle(&self) -> Handle {
        Handle {
            inner: self.inner.handle(),
            reactor: self.reactor.clone(),
        }
    }

    /// Returns what the workers and tasks have done so far. This needs the
    /// feature `metrics`.
    #[cfg(feature = "metrics")]
    pub fn metrics(&self) -> super::Metrics {
        self.metrics.read()
    }
}

/// A handle to a [`Runtime`], for any thread. It may outlive the runtime: tasks
/// and jobs that are spawned after the runtime has ended are cancelled.
#[derive(Clone)]
pub struct Handle {
    inner: work_stealing::Handle,
    reactor: reactor::Handle,
}

impl Handle {
    /// See [`Runtime::spawn`].
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.inner.spawn(as_task(future))
    }

    /// See [`Runtime::spawn_blocking`].
    pub fn spawn_blocking<F, T>(&self, job: F) -> BlockingHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.inner.spawn_blocking(job)
    }

    /// See [`Runtime::enter`].
    pub fn enter(&self) -> EnterGuard<'_> {
        self.inner.enter()
    }

    /// Returns the handle of the reactor, with which the runtime's sockets and
    /// sleeps are registered.
    pub fn reactor(&self) -> &reactor::Handle {
        &self.reactor
    }
}

/// Spawns a task on the runtime that this thread has entered: by running a
/// task, a blocking job or a `block_on`, or by [`Runtime::enter`]. See
/// [`Runtime::spawn`] for the task and its handle.
///
/// # Panics
///
/// If the thread has entered no [`Runtime`]. In a
/// [`LocalRuntime`](super::LocalRuntime), use
/// [`spawn_local`](super::spawn_local).
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    work_stealing::spawn(as_task(future))
}

/// Runs a job that blocks or computes for a long time, on the runtime that this
/// thread has entered. See [`Runtime::spawn_blocking`] for the job and its
/// handle.
///
/// # Panics
///
/// If the thread has entered no [`Runtime`].
#[track_caller]
pub fn spawn_blocking<F, T>(job: F) -> BlockingHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    work_stealing::spawn_blocking(job)
}

/// Wraps a future as the task that's spawned for it.
#[cfg(not(feature = "metrics"))]
fn as_task<F: Future>(future: F) -> impl Future<Output = F::Output> {
    with_budget(SLICE, future)
}

#[cfg(feature = "metrics")]
#[track_caller]
fn as_task<F: Future>(future: F) -> impl Future<Output = F::Output> {
    super::metrics::Counted::new(with_budget(SLICE, future))
}
