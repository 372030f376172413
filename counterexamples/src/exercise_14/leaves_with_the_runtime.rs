//! Breaks clause 16: After the end.
//! Caught by: models::nobody_is_left_behind_in_whatever_order
//! Also fails: models::the_runtime_ends_in_whatever_order
//! Also fails: models::two_runtimes_wake_one_another_in_whatever_order
//!
//! A thread that knows only a waker pushes the task, and then looks at the
//! sleepers. But with the push the task is no longer its own. It may run and end
//! at once, and the runtime with it: nobody waits for who is about to leave.

use ::{run_queue, sleepers, task};

super::parts! {
    builder context end handle injector runtime search shared slot start
    worker models all others but tests
}

mod owner {
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
    pub struct Owner(*const Shared);

    // SAFETY: what it points to may be used by all threads.
    unsafe impl Send for Owner {}
    // SAFETY: as above.
    unsafe impl Sync for Owner {}

    impl Owner {
        #[inline]
        pub fn new(shared: &Shared) -> Self {
            Self(shared)
        }

        /// # Safety
        ///
        /// The caller must hold a task of this owner, or be a worker, as long as it
        /// uses the reference.
        #[inline]
        unsafe fn shared<'a>(self) -> &'a Shared {
            // SAFETY: `Shared` lives in an `Arc`, and `end` waits for all of these.
            unsafe { &*self.0 }
        }
    }

    impl Schedule for Owner {
        const RECYCLES: bool = !cfg!(any(test, feature = "without-recycling"));

        #[inline]
        fn schedule(&self, task: Task) {
            // SAFETY: we hold a task, which keeps the runtime.
            let shared = unsafe { self.shared() };
            match context::worker_of(shared) {
                Some(worker) => worker.schedule(task),
                // The task keeps the runtime.
                None => shared.inject(task),
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
}
