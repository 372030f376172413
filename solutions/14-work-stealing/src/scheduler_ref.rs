//! What a task knows of its runtime.

use std::ptr;

use super::context;
use super::shared::{Shared, Task};
use super::task::{OwnedTasks, Schedule};

/// The runtime that a task belongs to.
///
/// It's a plain pointer, because all workers would change a reference count at
/// the spawn and at the end of every task. A thread that owns the task may use
/// the pointer: the runtime isn't freed before all its tasks have ended. After
/// that it isn't used, because a waker of a task that has ended schedules
/// nothing.
#[derive(Clone, Copy)]
pub struct SchedulerRef(*const Shared);

// SAFETY: all threads may use what it points to.
unsafe impl Send for SchedulerRef {}
// SAFETY: as above.
unsafe impl Sync for SchedulerRef {}

impl SchedulerRef {
    #[inline]
    pub fn new(shared: &Shared) -> Self {
        Self(shared)
    }

    /// # Safety
    ///
    /// As long as it uses the reference, the caller must own a task of this
    /// runtime, be one of its workers, have entered it, or be counted as in
    /// flight.
    #[inline]
    unsafe fn shared<'a>(self) -> &'a Shared {
        // SAFETY: `Shared` is in an `Arc`. Each worker has a clone, and so has
        // the guard of a thread that has entered the runtime. The last worker
        // keeps its clone until no task and no thread in flight is left.
        unsafe { &*self.0 }
    }
}

impl Schedule for SchedulerRef {
    #[cfg(not(any(test, feature = "without-recycling")))]
    const RECYCLES: bool = true;

    #[inline]
    fn schedule(&self, task: Task) {
        // SAFETY: this thread owns a task until it has pushed it. From then on
        // the thread is a worker, or has entered the runtime, or is in flight.
        let shared = unsafe { self.shared() };
        if let Some(worker) = context::worker_of(shared) {
            worker.schedule(task);
        } else if ptr::eq(context::current(), shared) {
            shared.inject(task);
        } else {
            shared.inject_remote(task);
        }
    }

    #[inline]
    fn schedule_yielded(&self, task: Task) {
        // SAFETY: as above.
        let shared = unsafe { self.shared() };
        match context::worker_of(shared) {
            Some(worker) => worker.schedule_yielded(task),
            None => self.schedule(task),
        }
    }

    #[inline]
    fn owned(&self) -> Option<&OwnedTasks<Self>> {
        // SAFETY: the caller owns a task of this runtime, for which it asks.
        Some(&unsafe { self.shared() }.owned)
    }
}
