//! How code anywhere uses a runtime: through a handle, or through the runtime
//! that its thread has entered.

use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use sleep::Sleep;

use super::context::{self, EnterGuard};
use super::shared::Shared;

pub use super::task::JoinHandle;

/// What a blocking job returns, to be awaited.
pub type BlockingHandle<T> = spawn_blocking::JoinHandle<T>;

/// Spawns on a [`Runtime`](super::Runtime), and enters it, from anywhere and as
/// long as the runtime exists. What is spawned later is cancelled.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

impl Handle {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// See [`Runtime::spawn`](super::Runtime::spawn).
    #[inline]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.shared.spawn(future)
    }

    /// See
    /// [`Runtime::spawn_blocking`](super::Runtime::spawn_blocking).
    pub fn spawn_blocking<F, T>(&self, job: F) -> BlockingHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let shared = self.shared.clone();
        let job = move || {
            let _inside = context::EnterScope::new(shared);
            job()
        };
        self.shared.blocking().spawn_blocking(job)
    }

    /// See [`Runtime::enter`](super::Runtime::enter).
    pub fn enter(&self) -> EnterGuard<'_> {
        EnterGuard::new(self.shared.clone())
    }
}

/// Spawns a task on the runtime that this thread has entered.
///
/// # Panics
///
/// If this thread has entered no runtime.
#[inline]
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    // SAFETY: the only user code that may run here is in destructors of tasks,
    // after the end of the runtime, and tasks are `'static`.
    unsafe { context::expect_current() }.spawn(future)
}

/// Runs `job` on a thread where it may block, on the runtime that this thread
/// has entered.
///
/// # Panics
///
/// If this thread has entered no runtime.
#[track_caller]
pub fn spawn_blocking<F, T>(job: F) -> BlockingHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    current_handle().spawn_blocking(job)
}

/// Makes a future that is ready once `duration` has passed, on the runtime that
/// this thread has entered. The timer thread then wakes the task, which waits
/// no longer than a task that was spawned elsewhere.
///
/// # Panics
///
/// If this thread has entered no runtime.
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    // SAFETY: the reference isn't used.
    let _ = unsafe { context::expect_current() };
    sleep::sleep(duration)
}

#[track_caller]
fn current_handle() -> Handle {
    // SAFETY: no user code runs here.
    let shared = ptr::from_ref(unsafe { context::expect_current() });
    // SAFETY: it is in an `Arc`, which the thread's context keeps.
    unsafe { Arc::increment_strong_count(shared) };
    // SAFETY: as above, and this call owns the count.
    Handle::new(unsafe { Arc::from_raw(shared) })
}
