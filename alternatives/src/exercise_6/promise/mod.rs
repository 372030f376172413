//! Jobs that pay into a cell. A job is a boxed closure with a [`Promise`] in it.
//! The handle shares the promise's cell, and knows nothing of the closure. A
//! promise that's dropped before it has run its closure says that it was
//! cancelled.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use primitives::{Arc, Mutex};

/// What a pool's queue holds. Dropping it cancels it.
pub struct Job(Box<dyn FnOnce() + Send>);

impl Job {
    /// Makes a job of a closure, and the handle to await it.
    pub fn new<F, T>(closure: F) -> (Self, JoinHandle<T>)
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let cell = Arc::new(Mutex::new(Cell::Open(None)));
        let promise = Promise {
            closure: Some(closure),
            cell: cell.clone(),
        };
        (Self(Box::new(move || promise.keep())), JoinHandle { cell })
    }

    /// Runs the closure. Never panics.
    pub fn run(self) {
        // If the handle is gone, the result is dropped with the promise.
        quietly(self.0);
    }
}

/// Where the result goes.
enum Cell<T> {
    /// There's none yet. The waker is that of the handle's last poll.
    Open(Option<Waker>),
    /// It's there, unless the handle has taken it.
    Closed(Option<Result<T, JoinError>>),
}

/// A closure that's to be run, and where its result goes.
struct Promise<F: FnOnce() -> T, T> {
    /// `None` once it has run.
    closure: Option<F>,
    cell: Arc<Mutex<Cell<T>>>,
}

impl<F: FnOnce() -> T, T> Promise<F, T> {
    fn keep(mut self) {
        let closure = self.closure.take().expect("a job runs once");
        let result = catch_unwind(AssertUnwindSafe(closure));
        self.close(result.map_err(|payload| JoinError(Some(payload))));
    }

    fn close(&self, result: Result<T, JoinError>) {
        let closed = Cell::Closed(Some(result));
        let open = mem::replace(&mut *self.cell.lock().unwrap(), closed);
        if let Cell::Open(Some(waker)) = open {
            quietly(|| waker.wake());
        }
    }
}

impl<F: FnOnce() -> T, T> Drop for Promise<F, T> {
    fn drop(&mut self) {
        if let Some(closure) = self.closure.take() {
            // What it owns may panic, and the handle must become ready even so.
            quietly(|| drop(closure));
            self.close(Err(JoinError(None)));
        }
    }
}

/// Runs code that may panic, and whose payload may panic when it's dropped.
fn quietly(run: impl FnOnce()) {
    let Err(payload) = catch_unwind(AssertUnwindSafe(run)) else {
        return;
    };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        mem::forget(payload);
    }
}

/// Awaits what a job returns. Dropping it detaches the job.
pub struct JoinHandle<T> {
    cell: Arc<Mutex<Cell<T>>>,
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // Cloning and dropping a waker may run any code, so neither happens
        // under the lock.
        let mut waker = Some(cx.waker().clone());
        let polled = match &mut *self.cell.lock().unwrap() {
            Cell::Closed(result) => Poll::Ready(
                result.take().expect("a handle isn't polled after its end"),
            ),
            Cell::Open(last) => {
                mem::swap(last, &mut waker);
                Poll::Pending
            }
        };
        drop(waker);
        polled
    }
}

/// Runs `job` on rayon's pool.
pub fn spawn_rayon<F, T>(job: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (job, handle) = Job::new(job);
    rayon::spawn(|| job.run());
    handle
}

/// What the job has thrown; `None` if it was cancelled.
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
        f.write_str(match self.is_panic() {
            true => "the job panicked",
            false => "the job was cancelled",
        })
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinError({self})")
    }
}

impl Error for JoinError {}
