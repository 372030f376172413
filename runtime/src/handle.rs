//! The runtime, what other threads use it by, and how tasks begin.

use std::io;
use std::time::Duration;

use budget::with_budget;

use super::builder::Builder;

pub use work_stealing::{BlockingHandle, EnterGuard, JoinHandle};

/// A task that awaits sockets or checkpoints which are always ready yields after
/// so long, so that others of its worker have their turn.
pub const SLICE: Duration = Duration::from_micros(200);

/// Threads that run tasks, and wait for their sockets and sleeps.
///
/// Dropping it drops all tasks. The drop waits for the polls and for the
/// blocking jobs that run at that time. A runtime may be dropped in one of its
/// own tasks or jobs; then the drop doesn't wait for that one.
pub struct Runtime {
    pub(crate) inner: work_stealing::Runtime,
    pub(crate) reactor: reactor::Handle,
    #[cfg(feature = "metrics")]
    pub(crate) metrics: super::metrics::Registered,
}

impl Runtime {
    /// Makes a runtime with as many workers as there are processors.
    ///
    /// # Errors
    ///
    /// If the system has no thread or no file descriptor left.
    pub fn new() -> io::Result<Self> {
        Builder::new().build()
    }

    /// Runs `future` on this thread until it's ready, and returns its output.
    /// Meanwhile the workers run the tasks. Several threads may call it.
    ///
    /// The future needn't be `Send`, and may borrow. It's woken by the workers:
    /// what is to be fast belongs into a task.
    ///
    /// # Panics
    ///
    /// Within a task or another `block_on`, also one of a
    /// [`LocalRuntime`](super::LocalRuntime), and if `future` does.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        assert!(
            !super::local::is_running(),
            "`block_on` within a `block_on` of a `LocalRuntime`: its thread \
             can't wait for both futures; `.await` the inner one instead"
        );
        self.inner.block_on(with_budget(SLICE, future))
    }

    /// Spawns a task, which begins although its handle isn't awaited. Dropping
    /// the handle detaches the task.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.inner.spawn(as_task(future))
    }

    /// Runs a job that blocks or computes for long, on a thread of its own.
    pub fn spawn_blocking<F, T>(&self, job: F) -> BlockingHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.inner.spawn_blocking(job)
    }

    /// Lets this thread use the free functions, as long as the guard is there.
    /// Guards are to be dropped in the reverse of their order.
    pub fn enter(&self) -> EnterGuard<'_> {
        self.inner.enter()
    }

    /// Makes a handle, for other threads and for later.
    pub fn handle(&self) -> Handle {
        Handle {
            inner: self.inner.handle(),
            reactor: self.reactor.clone(),
        }
    }

    /// What the workers have done so far. There with the feature `metrics`.
    #[cfg(feature = "metrics")]
    pub fn metrics(&self) -> super::Metrics {
        self.metrics.read()
    }
}

/// Uses a [`Runtime`] from anywhere, also after its end: then tasks and jobs
/// that are spawned are cancelled.
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

    /// The reactor that the runtime's sockets and sleeps are registered at.
    pub fn reactor(&self) -> &reactor::Handle {
        &self.reactor
    }
}

/// Spawns a task on the runtime of the task, the blocking job or the `block_on`
/// that calls this, or on the one that was entered last. See
/// [`Runtime::spawn`].
///
/// # Panics
///
/// Where there's no runtime. A [`LocalRuntime`](super::LocalRuntime) isn't one:
/// it has [`spawn_local`](super::spawn_local).
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    work_stealing::spawn(as_task(future))
}

/// Runs a job that blocks or computes for long, on a thread of the runtime that
/// [`spawn`] would use.
///
/// # Panics
///
/// As for [`spawn`].
#[track_caller]
pub fn spawn_blocking<F, T>(job: F) -> BlockingHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    work_stealing::spawn_blocking(job)
}

/// What is spawned for a future.
#[cfg(not(feature = "metrics"))]
fn as_task<F: Future>(future: F) -> impl Future<Output = F::Output> {
    with_budget(SLICE, future)
}

#[cfg(feature = "metrics")]
#[track_caller]
fn as_task<F: Future>(future: F) -> impl Future<Output = F::Output> {
    super::metrics::Counted::new(with_budget(SLICE, future))
}
