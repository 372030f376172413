//! Breaks clause 5: Next is not always.
//! Caught by: tasks_that_wake_one_another_do_not_own_the_worker
//! Also fails: any_interval_will_do
//!
//! What was just woken is in the cache, so it comes first, always. Two tasks
//! that wake one another are always the next ones.

#[path = "../../../solutions/14-work-stealing/src/builder.rs"]
mod builder;
#[path = "../../../solutions/14-work-stealing/src/context.rs"]
mod context;
#[path = "../../../exercises/14-work-stealing/src/events.rs"]
mod events;
#[path = "../../../solutions/14-work-stealing/src/handle.rs"]
mod handle;
#[path = "../../../solutions/14-work-stealing/src/injector.rs"]
mod injector;
#[path = "../../../solutions/14-work-stealing/src/observer.rs"]
mod observer;
#[path = "../../../solutions/14-work-stealing/src/recent.rs"]
mod recent;
#[path = "../../../solutions/14-work-stealing/src/runtime.rs"]
mod runtime;
#[path = "../../../solutions/14-work-stealing/src/search.rs"]
mod search;
#[path = "../../../solutions/14-work-stealing/src/shared.rs"]
mod shared;
#[path = "../../../solutions/14-work-stealing/src/worker.rs"]
mod worker;

use ::{run_queue, sleepers, task};

pub use builder::Builder;
pub use context::Entered;
pub use handle::{
    BlockingHandle, Handle, JoinHandle, sleep, spawn, spawn_blocking,
};
pub use runtime::Runtime;
pub use sleep::Sleep;
pub use task::{JoinError, YieldNow, yield_now};

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

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "../../../exercises/14-work-stealing/src/tests/mod.rs"]
mod tests;
