//! Exercise 12: a task in one allocation, its wakers and its handle.
//!
//! The chapter is `src/scheduler/task.md`. Check your version with
//! `cargo test -p exercise-12`, and then have every interleaving tried:
//! `cargo test -p exercise-12 --features loom`.
//!
//! Import from `primitives` what you would import from `std::sync`, and put
//! what several threads share into its `UnsafeCell`, as in exercise 2. The
//! fields of the structs are up to you, and so are further types and files. The
//! error type is that of exercise 6.
//!
//! # Contract
//!
//! A task *waits* from a pending poll until it is woken. It has *ended* when
//! its future was ready or has panicked, or when it was cancelled.
//!
//! 1. **One allocation.** [`spawn`] allocates one block, of the size that the
//!    future and the output need, for any alignment. Nothing else that
//!    is done with the task allocates, except what the future itself does. The
//!    block is freed with the layout that it was allocated with.
//! 2. **In place.** A future stays where it was first polled, and is dropped
//!    there.
//! 3. **When run.** [`spawn`] polls nothing and calls no scheduler.
//!    [`Runnable::run`] polls once. While a `run` polls, no other poll takes
//!    place, and none takes place after the end.
//! 4. **Scheduled once.** A wake-up of a task that waits gives it to its
//!    scheduler. However many wake-ups come before it is run, the scheduler
//!    gets it once, and it is polled once.
//! 5. **No lost wake-up.** If a task is woken while it is polled, `run` gives
//!    it to its scheduler again, through either method. A poll sees what was
//!    written before each wake-up that came before the poll began, whether or
//!    not that wake-up scheduled it.
//! 6. **Wakers.** A waker may be cloned, woken and dropped by any thread, at
//!    any time, even by several at once, and long after the end, when it wakes
//!    nothing. `will_wake` recognizes it as equal to its clones and to the
//!    waker of another poll of the same task.
//! 7. **Freed.** The future is dropped when the task ends, by the thread that
//!    ends it, and before the handle is ready. The block is freed, and the
//!    scheduler dropped at the latest with it, when in addition the handle is
//!    dropped or was ready, and the last waker is gone. A task that waits
//!    without a handle and without a waker ends only through its scheduler's
//!    list (15); without a list it is never freed.
//! 8. **The output.** It is moved to the handle, or dropped, once. It is
//!    dropped by `run` if the handle is gone, and otherwise with the handle,
//!    never by a thread that drops a waker.
//! 9. **The handle.** A [`JoinHandle`] is ready when its task has ended, and
//!    wakes the waker of its last poll, once. It may be polled and dropped on
//!    any thread. Dropping it detaches the task. When the handle is dropped or
//!    was ready, the task keeps no waker of it. If it is polled after it was
//!    ready, it panics with a message that contains "after".
//! 10. **Abort.** After [`JoinHandle::abort`] no poll begins. A waiting task is
//!     cancelled at once or given to its scheduler to be cancelled; a queued
//!     task is cancelled when it is run; a task that is being polled is
//!     cancelled when the poll returns, unless it is ready then; if it yields,
//!     it may go to its scheduler to be cancelled. A task that has ended is
//!     left alone.
//! 11. **Dropped unrun.** Dropping a [`Runnable`] cancels its task, and what is
//!     linked behind it. Running it first cancels what is still linked behind
//!     it.
//! 12. **Panics.** If the future panics, in a poll or when it is dropped, its
//!     task ends, and the handle returns the first panic's payload. Neither
//!     `run` nor dropping a `Runnable` or a handle panics, no matter what
//!     panics inside: the future, the output, or the waker of the handle. If
//!     that waker panics when it is cloned or dropped, the poll of the handle
//!     may pass the panic on, and can be repeated. If the scheduler panics in
//!     `clone`, `schedule`, `schedule_yielded` or `owned`, the panic is passed
//!     on, and the task that it was called for is cancelled, unless the
//!     scheduler has kept its `Runnable`.
//! 13. **Handed over.** A scheduler may run, send on or drop what it is given
//!     before [`Schedule::schedule`] returns, or let another thread do so. The
//!     scheduler stays alive until the call returns.
//! 14. **Queues without memory.** A `Runnable` is one word, even as a pointer,
//!     and has room for a link to another `Runnable`.
//! 15. **Listed.** If its scheduler has a list, a task is listed until it ends,
//!     starting when it first waits or at a pending poll before that. A
//!     cancelled task may leave the list just before its future is dropped.
//!     [`OwnedTasks::close_and_cancel`] cancels the waiting tasks before it
//!     returns, and the others as [`JoinHandle::abort`] does. Two simultaneous
//!     calls share the tasks: neither waits for what the other cancels. Once
//!     the list is closed, a task that would be listed is cancelled instead.
//! 16. **Yield.** In a task, [`yield_now`] is pending once, and `run` gives the
//!     task to [`Schedule::schedule_yielded`], whose default is `schedule`,
//!     without calling the waker. If the task is also woken in that poll, it is
//!     still scheduled once and then polled once. Anywhere else, and if it is
//!     polled with another waker, a yield wakes that waker.
//! 17. **Few steps.** A wake-up by reference and the pending poll that follows
//!     take at most three atomic read-modify-writes together; a poll that
//!     yields takes at most two. What the scheduler does, including when it is
//!     cloned, doesn't count.
//!
//! # Milestones
//!
//! You don't have to write everything before the first check passes. A check
//! that reaches a `todo!` counts as not written yet, and not as a failure.
//!
//! 1. **It runs.** Clauses 3 to 6: [`spawn`], [`Runnable::run`] and the wakers,
//!    and a [`JoinHandle`] that can be polled and dropped.
//! 2. **It ends.** Clauses 2, 7 to 12 and 14: the other ways to end. A task is
//!    aborted, it panics, or its [`Runnable`] is dropped or linked to others.
//! 3. **Its scheduler.** Clauses 1, 13 and 15 to 17: the list of waiting tasks,
//!    a yield without a wake-up, and what all of it costs.
//!
//! # Examples
//!
//! ```no_run
//! use std::sync::{Arc, Mutex};
//!
//! use exercise_12::{Runnable, Schedule, spawn, yield_now};
//!
//! #[derive(Clone, Default)]
//! struct Queue(Arc<Mutex<Vec<Runnable<Queue>>>>);
//!
//! impl Schedule for Queue {
//!     fn schedule(&self, task: Runnable<Self>) {
//!         self.0.lock().unwrap().push(task);
//!     }
//! }
//!
//! let queue = Queue::default();
//! let six_by_seven = async {
//!     yield_now().await;
//!     6 * 7
//! };
//! let (task, handle) = spawn(six_by_seven, queue.clone());
//! task.run();
//! let task = queue.0.lock().unwrap().pop();
//! task.expect("it has yielded").run();
//! assert_eq!(block_on::block_on(handle).unwrap(), 42);
//! ```

#[cfg(all(test, feature = "loom"))]
mod models;
#[cfg(all(test, not(feature = "loom")))]
mod tests;

use std::marker::PhantomData;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

pub use spawn_blocking::JoinError;

/// Receives tasks when they can run. Cheap to clone: a task calls a clone,
/// because the task's own scheduler may be gone before the call returns. Its
/// destructor must not panic.
pub trait Schedule: Clone + Send + Sync + 'static {
    /// Takes a task that was woken.
    fn schedule(&self, task: Runnable<Self>);

    /// Takes a task that has just run: it has yielded, or was woken during the
    /// poll. It should run after all that are ready.
    fn schedule_yielded(&self, task: Runnable<Self>) {
        self.schedule(task);
    }

    /// Returns the list for this scheduler's waiting tasks, if it has one: the
    /// same at each call.
    fn owned(&self) -> Option<&OwnedTasks<Self>> {
        None
    }
}

/// Makes a task of `future`, to be run by `scheduler`. Returns the right to run
/// it for the first time, and the handle to await it.
pub fn spawn<F, S>(
    future: F,
    scheduler: S,
) -> (Runnable<S>, JoinHandle<F::Output>)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
    S: Schedule,
{
    let _unused = (future, scheduler);
    todo!("one block: state, vtable, scheduler, future")
}

/// The right to poll a task once: a task never has more than one.
#[derive(Debug)]
pub struct Runnable<S: Schedule> {
    task: NonNull<()>,
    _scheduler: PhantomData<S>,
}

// SAFETY: nothing is behind the pointer yet. What you put there has to be
// `Send`, and it's up to you to ensure that.
unsafe impl<S: Schedule> Send for Runnable<S> {}
// SAFETY: as above, and a reference only gives access to a scheduler.
unsafe impl<S: Schedule> Sync for Runnable<S> {}

impl<S: Schedule> Runnable<S> {
    /// Polls the task. Schedules it again if it was woken meanwhile or has
    /// yielded; ends it if it is ready, has panicked or was aborted. What is
    /// still linked behind it is dropped first.
    pub fn run(self) {
        todo!(
            "poll with a waker that borrows the task, then see what came of it"
        )
    }

    /// Returns the scheduler that the task was spawned with.
    pub fn scheduler(&self) -> &S {
        todo!("it is in the block")
    }

    /// Converts it into a pointer, for a queue of pointers. The task never ends
    /// unless the pointer is converted back with [`from_raw`](Self::from_raw).
    pub fn into_raw(self) -> NonNull<()> {
        todo!("the pointer, without the effect of a drop")
    }

    /// Converts the pointer back.
    ///
    /// # Safety
    ///
    /// The caller must pass a pointer that [`into_raw`](Self::into_raw) of the
    /// same type has returned, and each only once.
    pub unsafe fn from_raw(raw: NonNull<()>) -> Self {
        let _ = raw;
        todo!("the reverse")
    }

    /// Links another `Runnable` behind this one, or none. What was linked
    /// before is dropped.
    pub fn set_next(&mut self, next: Option<Self>) {
        let _ = next;
        todo!("a field of the block, for the thread that has the task")
    }

    /// Takes out what is linked behind this one.
    pub fn take_next(&mut self) -> Option<Self> {
        todo!("the same field")
    }
}

impl<S: Schedule> Drop for Runnable<S> {
    /// Cancels the task.
    fn drop(&mut self) {
        let _ = self.task;
        todo!("drop the future, and end the task with an error")
    }
}

/// Awaits the result of a task. Dropping it detaches the task, which runs on.
///
/// # Panics
///
/// If it is polled after it was ready.
#[derive(Debug)]
pub struct JoinHandle<T> {
    task: NonNull<()>,
    _output: PhantomData<T>,
}

// SAFETY: as for `Runnable`; it moves a `T` from thread to thread.
unsafe impl<T: Send> Send for JoinHandle<T> {}
// SAFETY: as for `Runnable`; a reference gives no access to a `T`.
unsafe impl<T: Send> Sync for JoinHandle<T> {}

impl<T> Unpin for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    /// Requests the end of the task: its future is dropped instead of being
    /// polled again. A task that is being polled may end by itself first.
    pub fn abort(&self) {
        todo!("does a thread have the task? If not, you do now")
    }

    /// Returns `true` if the result is there or was taken.
    pub fn is_finished(&self) -> bool {
        todo!("one flag of the state")
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Self::Output> {
        todo!("take the result, or leave the waker and look again")
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        let _ = self.task;
        todo!("has the task ended? Then the result is yours to drop")
    }
}

/// A list of a scheduler's tasks that have waited.
#[derive(Debug)]
pub struct OwnedTasks<S> {
    _of: PhantomData<fn() -> S>,
}

impl<S: Schedule> OwnedTasks<S> {
    /// Makes an empty list.
    pub fn new() -> Self {
        todo!("links in the tasks, and a lock")
    }

    /// Cancels all listed tasks, and from now on each task that would be
    /// listed. Returns when the waiting tasks are cancelled.
    pub fn close_and_cancel(&self) {
        todo!("close it; claim the waiting tasks; release the lock; cancel")
    }

    /// Returns `true` if no task is listed.
    pub fn is_empty(&self) -> bool {
        todo!("look, under the lock")
    }
}

impl<S: Schedule> Default for OwnedTasks<S> {
    fn default() -> Self {
        Self::new()
    }
}

/// Lets the scheduler's other tasks run.
pub fn yield_now() -> YieldNow {
    todo!("a future that remembers whether it has been polled")
}

/// The future of [`yield_now`].
#[derive(Debug)]
#[must_use = "a yield takes place where it is awaited"]
pub struct YieldNow {
    _yours: (),
}

impl Future for YieldNow {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
        todo!("is this the waker of the task that this thread polls?")
    }
}
