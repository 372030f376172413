//! How a task comes into being, and what runs it.

use super::{JoinHandle, OwnedTasks, Runnable, raw};

/// Receives tasks when they can run. Cheap to clone: a task calls a clone,
/// because the task's own scheduler may be gone before the call returns. Its
/// destructor must not panic.
pub trait Schedule: Clone + Send + Sync + 'static {
    /// Whether the memory of a task that has ended is kept for the next one
    /// instead of being freed. It's faster, and hides mistakes from sanitizers.
    const RECYCLES: bool = false;

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
#[inline]
pub fn spawn<F, S>(
    future: F,
    scheduler: S,
) -> (Runnable<S>, JoinHandle<F::Output>)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
    S: Schedule,
{
    let task = raw::allocate(future, scheduler);
    // SAFETY: the task is new, so it is running and ours; its scheduler is an
    // `S`.
    let runnable = unsafe { Runnable::from_header(task) };
    // SAFETY: the task is new, and its output is an `F::Output`.
    let handle = unsafe { JoinHandle::from_header(task) };
    (runnable, handle)
}
