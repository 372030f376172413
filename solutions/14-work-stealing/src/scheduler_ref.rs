//! What a task knows of its runtime.

use std::ptr;

use super::context;
use super::shared::{Shared, Task};
use super::task::{OwnedTasks, Schedule};

/// The runtime that a task belongs to.
///
/// It is a plain pointer: a count for each task would be changed by all workers
/// at every spawn and at every end. It may be used by whoever holds the task,
/// since the runtime does not go before all its tasks have ended. After that
/// nobody uses it: a waker of a task that has ended schedules nothing.
#[derive(Clone, Copy)]
pub struct SchedulerRef(*const Shared);

// SAFETY: what it points to may be used by all threads.
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
    /// The caller must hold a task of this owner, or be a worker, or be counted
    /// as in flight, as long as it uses the reference.
    #[inline]
    unsafe fn shared<'a>(self) -> &'a Shared {
        // SAFETY: `Shared` lives in an `Arc`, and `end` waits for all of these.
        unsafe { &*self.0 }
    }
}

impl Schedule for SchedulerRef {
    const RECYCLES: bool = !cfg!(any(test, feature = "without-recycling"));

    #[inline]
    fn schedule(&self, task: Task) {
        // SAFETY: we hold a task, until it is pushed. Then we are a worker, or
        // the thread's context keeps the runtime, or we are in flight.
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
        // SAFETY: this is called by who holds a task, for it.
        Some(&unsafe { self.shared() }.owned)
    }
}
