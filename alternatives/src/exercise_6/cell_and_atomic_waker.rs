//! The result is in a cell that is written once, beside an `AtomicWaker` of the
//! crate futures: a poll stores its waker first, and then looks for the result.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::task::AtomicWaker;

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
pub struct JoinHandle<T>(Arc<Slot<T>>);

/// Where the result meets the waker.
struct Slot<T> {
    result: Mutex<Option<Result<T, JoinError>>>,
    waker: AtomicWaker,
}

/// Records that the job was cancelled if it's dropped before there is a result.
struct Promise<T>(Option<Arc<Slot<T>>>);

impl<T> Promise<T> {
    fn keep(&mut self, result: Result<T, JoinError>) {
        let Some(slot) = self.0.take() else { return };
        let mut place =
            slot.result.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Some(result);
        drop(place);
        // A waker and a result may run arbitrary code: a panic of one must not
        // skip the other.
        let woken = catch_unwind(AssertUnwindSafe(|| slot.waker.wake()));
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(slot)));
        for thrown in [woken.err(), dropped.err()].into_iter().flatten() {
            let again = catch_unwind(AssertUnwindSafe(|| drop(thrown)));
            mem::forget(again);
        }
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.keep(Err(JoinError(None)));
    }
}

fn prepare<F, T>(job: F) -> (impl FnOnce() + Send, JoinHandle<T>)
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let slot = Arc::new(Slot {
        result: Mutex::new(None),
        waker: AtomicWaker::new(),
    });
    let mut promise = Promise(Some(slot.clone()));
    let job = move || {
        let result = catch_unwind(AssertUnwindSafe(job));
        promise.keep(result.map_err(|payload| JoinError(Some(payload))));
    };
    (job, JoinHandle(slot))
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.waker.register(cx.waker());
        let result = self.0.result.lock();
        let result = result.unwrap_or_else(PoisonError::into_inner).take();
        result.map_or(Poll::Pending, Poll::Ready)
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
