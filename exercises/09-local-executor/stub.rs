//! Exercise 9: an executor of one thread, with tasks, a queue and handles.
//!
//! The chapter is `src/scheduler/local-executor.md`. Check yourself with
//! `cargo test -p exercise-9`, and then try every interleaving:
//! `cargo test -p exercise-9 --features loom`.
//!
//! Import from `primitives` what you would import from `std::sync` and
//! `std::thread`, as in exercise 2. A type that you turn into a waker stays in
//! std's `Arc`. The crate `parker` is solution 2.
//!
//! # Contract
//!
//! A task is *ready* from its spawn, and from each wake-up, until its next
//! poll.
//!
//! 1. **Runs.** [`LocalExecutor::spawn`] creates a task and polls nothing.
//!    [`LocalExecutor::block_on`] polls its future and the tasks until its
//!    future is ready; the remaining tasks wait for the next call.
//!    [`LocalExecutor::run`] polls the tasks until none is left.
//! 2. **Many wakes, one poll.** A task is polled only when it's ready: all
//!    wake-ups that come before a poll cause that one poll. The future of
//!    `block_on` may be polled more often, once for each poll of a task.
//! 3. **No lost wake-up.** A wake-up counts at any time and from any thread,
//!    even while the task is polled. The poll that follows sees what was
//!    written before the wake-up.
//! 4. **Idle.** While nothing is ready, the thread sleeps.
//! 5. **Fair.** While a task or the future of `block_on` is ready, no other is
//!    polled more than 256 times, no matter what woke it.
//! 6. **Over.** A task that is over is never polled again, no matter what wakes
//!    it. When a task is over, its future is dropped before its handle is
//!    ready.
//! 7. **Re-entrant.** A future may spawn, wake and drop anything while it's
//!    polled, and while it's dropped. It can't call `run` or `block_on` there:
//!    such a call panics, and the call that is running continues.
//! 8. **Handles.** A [`JoinHandle`] is ready when its task is over, with what
//!    the task returned. It calls the waker of its last poll, no matter which
//!    thread that poll was on. Dropping it detaches the task.
//! 9. **Panics.** A task's panic reaches its handle and nothing else. A value
//!    that panics while it's dropped harms nothing else. If it's the future of
//!    a task that is over, the task's handle gives the output or that panic.
//!    If a poll of the future of `block_on` panics, the panic reaches the
//!    caller, and the executor can run again.
//! 10. **At home.** A task is polled and dropped on the executor's thread, no
//!     matter which thread wakes it, and which thread drops its last waker.
//!     Neither the task nor what it returns has to be `Send`.
//! 11. **Drop.** Dropping the executor drops all its tasks, no matter what
//!     refers to what, and everything that their destructors spawn. The handles
//!     of tasks that weren't over are cancelled, each after its future was
//!     dropped. Once the wakers are gone, nothing is left.
//! 12. **No scan.** The cost of a wake-up and of the poll that follows doesn't
//!     grow with the number of tasks that wait.
//! 13. **Here.** [`spawn`] creates a task on the executor that runs on this
//!     thread, or is being dropped there, and panics if there is none.
//! 14. **Two ends.** [`outcome`] creates a handle, and a [`Completer`] that
//!     makes it ready; a completer that is dropped cancels. Either may be used
//!     on any thread, if the result is `Send`, and by a waker that the handle
//!     clones, wakes or drops.
//! 15. **Jobs.** [`job`] turns a future into one without an output, and a
//!     handle: clauses 6, 8 and 9 apply to it, no matter what polls it, and
//!     where. A poll of a job never panics. A job that is dropped early drops
//!     its future, and then it is cancelled.
//!
//! # Milestones
//!
//! You needn't write everything before the first check is green. A check that
//! reaches a `todo!` counts as not written yet, and not as a failure.
//!
//! 1. **Results.** Clauses 14 and 15: [`outcome`] and [`job`], which need no
//!    executor.
//! 2. **Ticks.** Clauses 1 to 9, 12 and 13: the executor runs its tasks.
//! 3. **Its end.** Clauses 10 and 11: the destructor of [`LocalExecutor`].
//!
//! # Examples
//!
//! ```no_run
//! use std::cell::Cell;
//! use std::rc::Rc;
//!
//! let executor = exercise_9::LocalExecutor::new();
//! let sum = Rc::new(Cell::new(0));
//! let adding = [1, 2, 3].map(|number| {
//!     let sum = sum.clone();
//!     executor.spawn(async move { sum.set(sum.get() + number) })
//! });
//! executor.block_on(async {
//!     for task in adding {
//!         task.await.expect("the task doesn't panic");
//!     }
//! });
//! assert_eq!(sum.get(), 6);
//! ```

#[cfg(all(test, feature = "loom"))]
mod models;
#[cfg(all(test, not(feature = "loom")))]
mod tests;

use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

pub use spawn_blocking::JoinError;

/// Runs tasks on the thread that it was created on. The [crate's
/// documentation](crate) states the contract.
pub struct LocalExecutor {}

impl LocalExecutor {
    /// Creates an executor without tasks.
    pub fn new() -> Self {
        todo!("create the tasks, the queue, and what wakers need of it")
    }

    /// Creates a task from `future`. Only [`run`](Self::run) and
    /// [`block_on`](Self::block_on) poll it.
    pub fn spawn<F: Future + 'static>(
        &self,
        future: F,
    ) -> JoinHandle<F::Output> {
        drop(future);
        todo!("keep the future as a task, and put the task into the queue")
    }

    /// Runs `future` until it's ready and returns its output; meanwhile, runs
    /// the tasks.
    ///
    /// # Panics
    ///
    /// Passes on a panic of the future. Panics, with a message that contains
    /// the word "recursive", if an executor runs on this thread.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        drop(future);
        todo!("poll what is next in the queue, or sleep until something is")
    }

    /// Runs the tasks until none is left.
    ///
    /// # Panics
    ///
    /// Panics, with a message that contains the word "recursive", if an
    /// executor runs on this thread.
    pub fn run(&self) {
        todo!("like `block_on`, until no task is left")
    }
}

impl Default for LocalExecutor {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for LocalExecutor {
    fn drop(&mut self) {
        todo!("drop all tasks, and borrow nothing meanwhile")
    }
}

/// Creates a task from `future` on the executor that runs on this thread.
///
/// # Panics
///
/// Panics, with a message that contains the word "executor", if no executor
/// runs on this thread.
pub fn spawn<F: Future + 'static>(future: F) -> JoinHandle<F::Output> {
    drop(future);
    todo!("find the executor in a thread-local")
}

/// Creates the two ends of a result. Both are `Send` if the result is.
pub fn outcome<T>() -> (Completer<T>, JoinHandle<T>) {
    todo!("create a cell for the result and a waker, and share it")
}

/// Makes the [`JoinHandle`] of the other end ready. Dropping it cancels.
pub struct Completer<T> {
    _result: PhantomData<Box<T>>,
}

impl<T> Completer<T> {
    /// Makes the handle ready with `result`. Never panics, no matter what the
    /// waker or the destructor of an unwanted result does.
    pub fn complete(self, result: Result<T, JoinError>) {
        drop(result);
        todo!("store the result, then wake the task that awaits it")
    }
}

impl<T> Drop for Completer<T> {
    fn drop(&mut self) {
        todo!("cancel if there is no result")
    }
}

/// Awaits what a task returns. Dropping it detaches the task, which continues
/// to run.
///
/// # Panics
///
/// Panics if it's polled after it was ready.
#[must_use = "a handle that is dropped detaches its task"]
pub struct JoinHandle<T> {
    _result: PhantomData<Box<T>>,
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let _ = cx;
        todo!("return the result; if there is none yet, keep the waker")
    }
}

/// Creates a job from a future, and the handle that awaits what the future
/// returns. A job is `Send` if the future and what it returns are.
pub fn job<F: Future>(future: F) -> (CatchUnwind<F>, JoinHandle<F::Output>) {
    drop(future);
    todo!("keep the future beside the completer of its outcome")
}

/// Runs a future, catches its panics, and passes on the result. It has no
/// output itself, so an executor can run it like any other job.
#[must_use = "a job does nothing unless it is polled"]
pub struct CatchUnwind<F: Future> {
    _future: PhantomData<F>,
    _completer: Option<Completer<F::Output>>,
}

impl<F: Future> Future for CatchUnwind<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let _ = cx;
        todo!("poll within `catch_unwind`; at the end drop, then complete")
    }
}
