//! Breaks clause 5: Next is not always.
//! Caught by: tasks_that_wake_one_another_do_not_own_the_worker
//! Also fails: any_interval_will_do
//!
//! What was just woken is in the cache, so it comes first, always. Two tasks
//! that wake one another are always the next ones.

use ::{run_queue, sleepers, task};

super::parts! {
    builder context end handle injector owner runtime search shared start
    worker all others
}

mod slot {
    use std::cell::Cell;

    use super::shared::Task;

    /// A worker's own: no thief sees it.
    pub struct Slot {
        task: Cell<Option<Task>>,
    }

    impl Slot {
        pub fn new() -> Self {
            Self {
                task: Cell::new(None),
            }
        }

        /// Makes `task` the next one. Returns the one that would have been.
        #[inline]
        pub fn put(&self, task: Task) -> Option<Task> {
            self.task.replace(Some(task))
        }

        #[inline]
        pub fn is_empty(&self) -> bool {
            let task = self.task.take();
            let is_empty = task.is_none();
            self.task.set(task);
            is_empty
        }

        /// Takes the next task.
        #[inline]
        pub fn take(&self) -> Option<Task> {
            self.take_anyway()
        }

        /// The same, for those who ask a second time.
        #[inline]
        pub fn take_anyway(&self) -> Option<Task> {
            self.task.take()
        }
    }
}
