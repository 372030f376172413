//! A job and the handle to await it: two ends of one allocation.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};

use primitives::{Mutex, MutexGuard};

/// A closure that waits to be run. One that is dropped instead is cancelled.
pub struct Job(Arc<dyn Run>);

/// Awaits what a job returns. To drop it detaches the job, which runs on.
///
/// # Panics
///
/// When it is polled after it was ready.
pub struct JoinHandle<T>(Arc<dyn Outcome<T>>);

impl Job {
    /// Makes a job of a closure, and the handle to await it.
    pub fn new<F, T>(closure: F) -> (Self, JoinHandle<T>)
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let task = Arc::new(Task(Mutex::new(Slot {
            stage: Stage::Waiting(closure),
            waker: None,
        })));
        (Self(task.clone()), JoinHandle(task))
    }

    /// Runs the closure. Never panics, even if the closure, its result or the
    /// waker of the task that awaits it does.
    pub fn run(self) {
        self.0.run();
        // With the job may go a result that nothing awaits.
        contain(|| drop(self));
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll(cx)
    }
}

/// A [`Task`], as the queue sees it.
trait Run: Send + Sync {
    /// Runs the closure. Never panics.
    fn run(&self);
    /// Gives up a closure that hasn't been run. Never panics.
    fn cancel(&self);
}

/// A [`Task`], as the handle sees it.
trait Outcome<T>: Send + Sync {
    fn poll(&self, cx: &mut Context<'_>) -> Poll<Result<T, JoinError>>;
}

// ANCHOR: task
/// A closure, then its result: the two are never there at the same time.
struct Task<F, T>(Mutex<Slot<F, T>>);

struct Slot<F, T> {
    stage: Stage<F, T>,
    /// Woken when the stage becomes `Ended`; `None` from then on.
    waker: Option<Waker>,
}

enum Stage<F, T> {
    /// In a queue.
    // --> Running (`run`), Ended (`cancel`)
    Waiting(F),
    // --> Ended (`run`)
    Running,
    /// Waits for the handle, or is dropped with the task.
    // --> Taken (`poll`)
    Ended(Result<T, JoinError>),
    Taken,
}

impl<F, T> Slot<F, T> {
    fn take_result(&mut self) -> Option<Result<T, JoinError>> {
        match mem::replace(&mut self.stage, Stage::Taken) {
            Stage::Ended(result) => return Some(result),
            Stage::Taken => panic!("a `JoinHandle` was polled after its end"),
            early => self.stage = early,
        }
        None
    }
}

impl<F, T> Task<F, T> {
    // A model's failing order shows who locks.
    #[track_caller]
    fn lock(&self) -> MutexGuard<'_, Slot<F, T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, result: Result<T, JoinError>) {
        let mut slot = self.lock();
        slot.stage = Stage::Ended(result);
        let waker = slot.waker.take();
        // The waker is foreign code: it runs without the lock.
        drop(slot);
        contain(|| waker.into_iter().for_each(Waker::wake));
    }
}
// ANCHOR_END: task

impl<F: FnOnce() -> T + Send, T: Send> Run for Task<F, T> {
    fn run(&self) {
        let stage = mem::replace(&mut self.lock().stage, Stage::Running);
        let Stage::Waiting(closure) = stage else {
            unreachable!("a job runs once: `Job::run` takes it by value")
        };
        // A closure that panics is gone, and its result never was.
        let result = catch_unwind(AssertUnwindSafe(closure));
        self.end(result.map_err(JoinError::panicked));
    }

    fn cancel(&self) {
        let mut slot = self.lock();
        if !matches!(slot.stage, Stage::Waiting(_)) {
            return;
        }
        let stage = mem::replace(&mut slot.stage, Stage::Running);
        drop(slot);
        // What the closure owns may panic. The handle has to end all the same.
        contain(|| drop(stage));
        self.end(Err(JoinError::cancelled()));
    }
}

impl<F: Send, T: Send> Outcome<T> for Task<F, T> {
    fn poll(&self, cx: &mut Context<'_>) -> Poll<Result<T, JoinError>> {
        let result = self.lock().take_result();
        if let Some(result) = result {
            return Poll::Ready(result);
        }
        // A clone, and the drop of an older waker, may run any code: neither
        // happens under the lock. Meanwhile the job may have ended.
        let mut waker = Some(cx.waker().clone());
        let mut slot = self.lock();
        let result = slot.take_result();
        if result.is_none() {
            mem::swap(&mut slot.waker, &mut waker);
        }
        drop(slot);
        result.map_or(Poll::Pending, Poll::Ready)
    }
}

/// Runs foreign code, and stops its panic, and the panic of what that panic has
/// thrown when it's dropped.
fn contain(run: impl FnOnce()) {
    let thrown = catch_unwind(AssertUnwindSafe(run));
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(thrown)));
    dropped.unwrap_or_else(mem::forget);
}

/// Why there is no result.
pub struct JoinError(Cause);

enum Cause {
    /// What the job has thrown. It's never locked: the mutex makes it `Sync`,
    /// which code that passes an error on expects of it.
    Panic(std::sync::Mutex<Box<dyn Any + Send>>),
    Cancelled,
}

impl JoinError {
    /// Creates the error of a job that has panicked with `payload`.
    pub fn panicked(payload: Box<dyn Any + Send>) -> Self {
        Self(Cause::Panic(std::sync::Mutex::new(payload)))
    }

    /// Creates the error of a job, or of a task, that won't run to its end.
    pub fn cancelled() -> Self {
        Self(Cause::Cancelled)
    }

    /// Returns `true` if the job has panicked.
    pub fn is_panic(&self) -> bool {
        matches!(self.0, Cause::Panic(_))
    }

    /// Returns `true` if the job hasn't run, and won't run.
    pub fn is_cancelled(&self) -> bool {
        matches!(self.0, Cause::Cancelled)
    }

    /// Returns the payload of the job's panic, for example for
    /// [`std::panic::resume_unwind`].
    ///
    /// # Panics
    ///
    /// Panics if the job hasn't panicked.
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        match self.0 {
            Cause::Panic(payload) => {
                payload.into_inner().unwrap_or_else(PoisonError::into_inner)
            }
            Cause::Cancelled => {
                panic!("the job was cancelled, and has not panicked")
            }
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Cause::Panic(_) => "the job panicked",
            Cause::Cancelled => "the job was cancelled",
        })
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinError({self})")
    }
}

impl Error for JoinError {}
