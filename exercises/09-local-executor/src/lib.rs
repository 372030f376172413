//! Exercise 9: an executor of one thread, with tasks, a queue and handles.
//!
//! The chapter is `src/scheduler/local-executor.md`. Check yourself with
//! `cargo test -p exercise-9`, and then let every order of events be tried:
//! `cargo test -p exercise-9 --features loom`.
//!
//! Import from `primitives` what you would import from `std::sync` and
//! `std::thread`, as in exercise 2. What is to become a waker stays in std's
//! `Arc`. The crate `parker` is solution 2.
//!
//! # Contract
//!
//! A task is *ready* from its spawn, and from each wake-up, until its next
//! poll.
//!
//! 1. **Runs.** [`LocalExecutor::spawn`] makes a task and polls nothing.
//!    [`LocalExecutor::block_on`] polls its future and the tasks, until its
//!    future is ready; the tasks that are left wait for the next call.
//!    [`LocalExecutor::run`] polls the tasks until none is left.
//! 2. **Many wakes, one poll.** A task is polled only when it is ready: all
//!    wake-ups that come before a poll cause this one. The future of `block_on`
//!    may be polled more often, once for each poll of a task.
//! 3. **No lost wake-up.** A wake-up counts whenever it comes, from whichever
//!    thread, also while the task is polled. The poll that follows sees what
//!    was written before it.
//! 4. **Idle.** While nobody is ready, the thread sleeps.
//! 5. **Fair.** While a task is ready, or the future of `block_on`, none other
//!    is polled more than 256 times, whoever woke it.
//! 6. **Over.** A task that is over is never polled again, whoever wakes it.
//!    Its future is dropped then, before its handle is ready.
//! 7. **Re-entrant.** A future may spawn, wake and drop what it likes while it
//!    is polled, and while it is dropped. What it cannot do there is call `run`
//!    or `block_on`: that panics, and the call that runs goes on.
//! 8. **Handles.** A [`JoinHandle`] is ready when its task is over, with what
//!    the task returned. It wakes the waker of its last poll, on whichever
//!    thread that was. To drop it detaches the task.
//! 9. **Panics.** The panic of a task reaches its handle and nobody else. What
//!    panics as it is dropped harms nobody; if that is a task's future, which
//!    was ready, its handle gives the output or the panic. If a poll of the
//!    future of `block_on` panics, that reaches the caller, and the executor
//!    can run on.
//! 10. **At home.** A task is polled and dropped on the executor's thread,
//!     whoever wakes it, and whoever drops its last waker. It need not be
//!     `Send`, and neither need what it returns.
//! 11. **Drop.** With the executor all its tasks are dropped, whatever refers
//!     to whatever, and what their destructors spawn. The handles of those that
//!     were not over are cancelled. Once the wakers are gone, nothing is left.
//! 12. **No scan.** What a wake-up and the poll that follows cost does not grow
//!     with the number of tasks that wait.
//! 13. **Here.** [`spawn`] makes a task of the executor that runs on this
//!     thread, or is being dropped there, and panics where there is none.
//! 14. **Two ends.** [`outcome`] makes a handle, and a [`Completer`] that makes
//!     it ready; one that is dropped cancels. Either may be used on any thread,
//!     if the result is `Send`.
//! 15. **Jobs.** [`job`] makes of a future one of nothing, and a handle: 6, 8
//!     and 9 hold of it, whoever polls it, and wherever. It never panics.
//!     Dropped early, it is cancelled.
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
//!         task.await.expect("it does not panic");
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

/// Runs tasks on the thread that it was made on. The contract stands in the
/// [crate's documentation](crate).
pub struct LocalExecutor {}

impl LocalExecutor {
    /// Makes an executor without tasks.
    pub fn new() -> Self {
        todo!("make the tasks, the queue, and what wakers need of it")
    }

    /// Makes a task of `future`. It is polled by [`run`](Self::run) and by
    /// [`block_on`](Self::block_on), not here.
    pub fn spawn<F: Future + 'static>(
        &self,
        future: F,
    ) -> JoinHandle<F::Output> {
        drop(future);
        todo!("keep the future as a task, and put the task into the queue")
    }

    /// Runs `future` until it is ready and returns its output; runs the tasks
    /// meanwhile.
    ///
    /// # Panics
    ///
    /// Passes on a panic of the future. Panics, with a message that contains
    /// the word "recursive", if an executor runs on this thread.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        drop(future);
        todo!("poll who is next in the queue, or sleep until somebody is")
    }

    /// Runs the tasks until none is left.
    ///
    /// # Panics
    ///
    /// With a message that contains the word "recursive", if an executor runs
    /// on this thread.
    pub fn run(&self) {
        todo!("as `block_on`, until there is no task")
    }
}

impl Default for LocalExecutor {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for LocalExecutor {
    fn drop(&mut self) {
        todo!("drop all tasks, with nothing borrowed meanwhile")
    }
}

/// Makes a task of `future` on the executor that runs on this thread.
///
/// # Panics
///
/// With a message that contains the word "executor", if none does.
pub fn spawn<F: Future + 'static>(future: F) -> JoinHandle<F::Output> {
    drop(future);
    todo!("find the executor in a thread-local")
}

/// Makes the two ends of a result. Both are `Send` if the result is.
pub fn outcome<T>() -> (Completer<T>, JoinHandle<T>) {
    todo!("make a slot for the result and a waker, and share it")
}

/// Makes the [`JoinHandle`] of the other end ready. To drop it cancels.
pub struct Completer<T> {
    _result: PhantomData<Box<T>>,
}

impl<T> Completer<T> {
    /// Makes the handle ready with `result`. Never panics, whatever the waker
    /// or the destructor of an unwanted result does.
    pub fn complete(self, result: Result<T, JoinError>) {
        drop(result);
        todo!("leave the result, then wake who waits for it")
    }
}

impl<T> Drop for Completer<T> {
    fn drop(&mut self) {
        todo!("cancel, if there is no result")
    }
}

/// Awaits what a task returns. To drop it detaches the task, which runs on.
///
/// # Panics
///
/// When it is polled after it was ready.
#[must_use = "a handle that is dropped detaches its task"]
pub struct JoinHandle<T> {
    _result: PhantomData<Box<T>>,
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let _ = cx;
        todo!("hand over the result; if there is none yet, keep the waker")
    }
}

/// Makes a job of a future, and the handle to await what the future returns. A
/// job is `Send` if the future is, and what it returns.
pub fn job<F: Future>(future: F) -> (CatchUnwind<F>, JoinHandle<F::Output>) {
    drop(future);
    todo!("keep the future beside the completer of its outcome")
}

/// Runs a future, keeps its panics, and passes on the result: so it is a future
/// of nothing, like any other job, whoever runs it.
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
