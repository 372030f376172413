//! The result goes through a oneshot channel of the crate futures.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::channel::oneshot;

/// Runs jobs that block on threads of its own.
pub struct Pool(spawn_blocking::Pool);

impl Pool {
    /// Creates a pool that starts its threads when there are jobs for them.
    pub fn new(max_threads: usize, keep_alive: Duration) -> Self {
        Self(spawn_blocking::Pool::new(max_threads, keep_alive))
    }

    /// Runs `job` on a thread of the pool.
    pub fn spawn_blocking<F, T>(&self, job: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let (job, handle) = prepare(job);
        self.0.spawn_blocking(job);
        handle
    }

    /// Does what dropping the pool does, and cancels what is submitted later.
    pub fn shut_down(&self) {
        self.0.shut_down();
    }
}

/// Runs `job` on rayon's global pool.
pub fn spawn_rayon<F, T>(job: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (job, handle) = prepare(job);
    spawn_blocking::spawn_rayon(job);
    handle
}

/// Awaits what a job returns. Dropping it detaches the job.
pub struct JoinHandle<T>(oneshot::Receiver<Result<T, JoinError>>);

fn prepare<F, T>(job: F) -> (impl FnOnce() + Send, JoinHandle<T>)
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (sender, receiver) = oneshot::channel();
    let job = move || {
        let result = catch_unwind(AssertUnwindSafe(job));
        // Fails if the handle was dropped, so that nothing awaits the result.
        let _ = sender.send(result.map_err(|payload| JoinError(Some(payload))));
    };
    (job, JoinHandle(receiver))
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Self::Output> {
        let receiver = Pin::new(&mut self.0).poll(cx);
        // A job that was cancelled was dropped, and the sender with it.
        receiver.map(|receiver| receiver.unwrap_or(Err(JoinError(None))))
    }
}

/// Why there is no result.
pub struct JoinError(Option<Box<dyn Any + Send>>);

impl JoinError {
    /// Creates the error of a job that has panicked with `payload`.
    pub fn panicked(payload: Box<dyn Any + Send>) -> Self {
        Self(Some(payload))
    }

    /// Creates the error of a job, or of a task, that won't run to its end.
    pub fn cancelled() -> Self {
        Self(None)
    }

    /// Returns `true` if the job has panicked.
    pub fn is_panic(&self) -> bool {
        self.0.is_some()
    }

    /// Returns `true` if the job hasn't run, and won't run.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the payload of the job's panic.
    ///
    /// # Panics
    ///
    /// Panics if the job hasn't panicked.
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        self.0.expect("the job has not panicked")
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Some(_) => "the job panicked",
            None => "the job was cancelled",
        })
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinError({self})")
    }
}

impl Error for JoinError {}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/06-spawn-blocking/src/tests/mod.rs"]
mod tests;
