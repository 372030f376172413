//! Breaks clause 4: From outside.
//! Caught by: busy_workers_look_into_the_global_queue
//! Also fails: each_poll_counts_in_the_interval
//! Also fails: a_worker_takes_from_outside_within_each_interval
//! Also fails: what_a_worker_has_taken_does_not_go_back
//! Also fails: a_flood_from_outside_leaves_polls_for_the_own_tasks
//! Also fails: no_count_of_polls_keeps_a_task_out
//!
//! The worker counts ticks where it takes a task from the queue. Tasks from the
//! slot don't count, so tasks that wake or spawn one another keep the worker from
//! the injector forever.

#[path = "../../../solutions/14-work-stealing/src/builder.rs"]
mod builder;
#[path = "../../../solutions/14-work-stealing/src/context.rs"]
mod context;
#[path = "../../../solutions/14-work-stealing/src/driver.rs"]
mod driver;
#[path = "../../../exercises/14-work-stealing/src/events.rs"]
mod events;
#[path = "../../../solutions/14-work-stealing/src/handle.rs"]
mod handle;
#[path = "../../../solutions/14-work-stealing/src/injector/mod.rs"]
mod injector;
#[path = "../../../solutions/14-work-stealing/src/lifo_slot.rs"]
mod lifo_slot;
#[path = "../../../solutions/14-work-stealing/src/observer.rs"]
mod observer;
#[path = "../../../solutions/14-work-stealing/src/prefetch.rs"]
mod prefetch;
#[path = "../../../solutions/14-work-stealing/src/runtime.rs"]
mod runtime;
#[path = "../../../solutions/14-work-stealing/src/scheduler_ref.rs"]
mod scheduler_ref;
#[path = "../../../solutions/14-work-stealing/src/shared/mod.rs"]
mod shared;
#[path = "../../../solutions/14-work-stealing/src/start.rs"]
mod start;
#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "../../../exercises/14-work-stealing/src/tests/mod.rs"]
mod tests;

use ::{run_queue, sleepers, task};

pub use builder::Builder;
pub use context::EnterGuard;
pub use handle::{
    BlockingHandle, Handle, JoinHandle, sleep, spawn, spawn_blocking,
};
pub use runtime::Runtime;
pub use task::{JoinError, YieldNow, yield_now};

#[path = "."]
mod worker {
    #[path = "../../../solutions/14-work-stealing/src/worker/alone.rs"]
    mod alone;
    #[path = "../../../solutions/14-work-stealing/src/worker/drive.rs"]
    mod drive;
    #[path = "../../../solutions/14-work-stealing/src/worker/pace.rs"]
    mod pace;
    #[path = "../../../solutions/14-work-stealing/src/worker/search.rs"]
    mod search;

    use std::cell::Cell;
    use std::sync::Arc;

    use parker::Parker;

    use super::context;
    use super::events::{Event, Queue};
    use super::lifo_slot::LifoSlot;
    use super::run_queue::Local;
    use super::shared::{CAPACITY, Shared, Task};
    use super::sleepers::Activity;

    use alone::Alone;
    use pace::Pace;

    /// A worker, on its own thread.
    pub struct Worker {
        shared: Arc<Shared>,
        index: usize,
        slot: LifoSlot<Task>,
        queue: Local<Task, CAPACITY>,
        parker: Parker,
        /// When to take from the injector.
        pace: Pace,
        /// The tasks that are on their way from there to the queue. Empty at
        /// all other times, but its memory is kept.
        batch: Cell<Vec<Task>>,
        /// What `sleepers` counts this worker as.
        activity: Cell<Activity>,
        has_waited: Cell<bool>,
        is_quiet: Cell<bool>,
        alone: Alone,
        random: Cell<u32>,
    }

    impl Worker {
        pub fn new(
            shared: Arc<Shared>,
            index: usize,
            queue: Local<Task, CAPACITY>,
            parker: Parker,
        ) -> Self {
            Self {
                pace: Pace::new(shared.global_queue_interval),
                batch: Cell::default(),
                shared,
                index,
                slot: LifoSlot::new(),
                queue,
                parker,
                activity: Cell::new(Activity::Busy),
                has_waited: Cell::new(false),
                is_quiet: Cell::new(false),
                alone: Alone::new(),
                // Any seed but 0 will do, as long as the workers' seeds differ.
                random: Cell::new(index as u32 + 1),
            }
        }

        /// Returns `true` if this is a worker of `runtime`.
        #[inline]
        pub fn is_of(&self, runtime: &Shared) -> bool {
            std::ptr::eq(&*self.shared, runtime)
        }

        /// A task that runs here has woken or spawned `task`, which becomes the
        /// next task. Other workers can steal only the task that it displaces,
        /// so without one there's no need to notify.
        #[inline]
        pub fn schedule(&self, task: Task) {
            self.emit(|| Event::Pushed(Queue::Slot));
            if let Some(displaced) = self.slot.put(task) {
                self.push(displaced);
                self.notify_others();
            }
        }

        /// A task that ran here has yielded, and becomes the last in the queue.
        /// It wasn't waiting until now, so no worker was notified of it. That's
        /// needed only if a task comes before it that no worker was notified
        /// of: the task in the slot.
        #[inline]
        pub fn schedule_yielded(&self, task: Task) {
            self.push(task);
            if !self.slot.is_empty() {
                self.notify_others();
            }
        }

        /// Makes sure that another worker comes for what this worker has
        /// published. If there's no other, this saves the fence.
        #[inline]
        fn notify_others(&self) {
            if self.shared.workers.len() > 1 && !self.is_quiet.get() {
                self.shared.notify();
            }
        }

        #[inline]
        fn push(&self, task: Task) {
            match self.queue.push(task) {
                Ok(()) => self.emit(|| Event::Pushed(Queue::Local)),
                Err(task) => self.overflow(task),
            }
        }

        /// Moves the younger half of the queue to the injector, so that there is
        /// room for some time.
        #[cold]
        fn overflow(&self, task: Task) {
            let mut half = Vec::with_capacity(CAPACITY / 2 + 1);
            self.queue.push_or_overflow(task, |task| half.push(task));
            self.emit(|| match half.len() {
                // A thief has made room meanwhile.
                0 => Event::Pushed(Queue::Local),
                count => Event::Overflowed { count },
            });
            self.shared.injector.append(half);
            self.notify_others();
        }

        /// Runs tasks until the runtime is shut down, then drops those it has
        /// left.
        pub fn run(self) {
            let _inside = context::EnterScope::new(self.shared.clone());
            self.emit(|| Event::Started { worker: self.index });
            context::run_as(&self, || {
                while !self.shared.is_shut_down() {
                    self.run_next();
                }
            });
            // This thread isn't a worker anymore: what the destructors wake
            // goes to the injector.
            drop(self.slot.take_uncapped());
            while let Some(task) = self.queue.pop() {
                drop(task);
            }
            self.shared.workers_exited(1);
        }

        /// Polls a task, or parks if there is none.
        #[inline]
        fn run_next(&self) {
            match self.take_in_time().or_else(|| self.next()) {
                Some(task) => self.poll(task),
                None => self.find_work(),
            }
        }

        #[inline]
        fn poll(&self, task: Task) {
            task.run();
            context::leave_forgotten(&self.shared);
        }

        #[inline]
        fn emit(&self, event: impl FnOnce() -> Event) {
            self.shared.observer.emit(event);
        }

        // ANCHOR: bug
        fn next(&self) -> Option<Task> {
            // ANCHOR: guilty
            if let Some(task) = self.slot.take() {
                return Some(task);
            // ANCHOR_END: guilty
            }
            let Some(task) = self.queue.pop() else {
                // ANCHOR: guilty_2
                return self.slot.take_uncapped();
                // ANCHOR_END: guilty_2
            };
            // ANCHOR: guilty_3
            self.pace.count_poll();
            // ANCHOR_END: guilty_3
            if let Some(next) = self.slot.take_uncapped() {
                self.push(next);
                self.notify_others();
            }
            Some(task)
        }
        // ANCHOR_END: bug
    }
}
