//! Breaks clause 3: All workers.
//! Caught by: as_many_tasks_run_as_there_are_workers
//! Also fails: a_task_that_yields_to_a_long_poll_is_stolen
//! Also fails: a_guard_that_is_forgotten_harms_nobody
//! Also fails: a_panic_harms_nobody_else
//! Also fails: as_many_woken_tasks_run_as_there_are_workers
//! Also fails: idle_workers_sleep
//! Also fails: tasks_spawned_in_a_row_stay_together
//! Also fails: the_queue_behind_a_long_poll_is_stolen
//! Also fails: there_are_as_many_workers_as_asked_for
//!
//! A worker that finds a task stops searching, and runs it. But whoever pushed
//! the next task woke nobody, since somebody was searching. Now nobody is.

use ::{run_queue, sleepers, task};

super::parts! {
    builder context end handle injector owner runtime shared slot start
    worker all others
}

mod search {
    use super::events::{Event, Queue};
    use super::shared::{CAPACITY, Shared, Task};
    use super::worker::Worker;

    /// So many tasks are in the first half of a queue, which stays if the queue
    /// overflows.
    const HALF: usize = CAPACITY / 2;

    impl Worker {
        /// Takes a batch from the injector: the first to be polled at once, the
        /// others for the first half of the queue. So they are polled, here or by a
        /// thief, and do not go back to the end of the injector before.
        pub fn take_injected(&self) -> Option<Task> {
            if self.shared.injector.is_empty() {
                return None;
            }
            let room = HALF.saturating_sub(self.queue.len());
            let most = room.min(self.queue.free()) + 1;
            let mut count = 1;
            let first = self.shared.injector.take(most, |task| {
                let Ok(()) = self.queue.push(task) else {
                    unreachable!(
                        "only its owner fills a queue, and it had room"
                    )
                };
                count += 1;
            })?;
            self.tell(|| Event::Took { count });
            self.tell(|| Event::Popped(Queue::Local));
            Some(first)
        }

        #[cold]
        pub fn find_work(&self) {
            let Some(task) = self.take_injected().or_else(|| self.search())
            else {
                return self.sleep();
            };
            if self.end_search(true) {
                let _is_last = self.shared.sleepers.found();
            }
            self.poll(task);
        }

        /// Looks at the queues of the others, unless enough do so already.
        fn search(&self) -> Option<Task> {
            if !self.is_searching.get() {
                if !self.shared.sleepers.try_search() {
                    return None;
                }
                self.set_searching(true);
            }
            self.steal().or_else(|| self.take_injected())
        }

        /// Steals from the first that has something, in an order that is never the
        /// same, so that not all fall upon one.
        fn steal(&self) -> Option<Task> {
            let workers = &self.shared.workers;
            let start = self.random(workers.len());
            let mut victims = (start..workers.len()).chain(0..start);
            victims.find_map(|from| {
                let task = workers[from].stealer.steal_into(&self.queue)?;
                // The queue was empty before.
                let count = || 1 + self.queue.len();
                self.tell(|| Event::Stole {
                    from,
                    count: count(),
                });
                self.tell(|| Event::Popped(Queue::Local));
                Some(task)
            })
        }

        fn set_searching(&self, is_searching: bool) {
            self.is_searching.set(is_searching);
            if is_searching {
                self.tell(|| Event::SearchBegan);
            }
        }

        /// Returns `true` if this worker was searching.
        fn end_search(&self, found: bool) -> bool {
            let was_searching = self.is_searching.take();
            if was_searching {
                self.tell(|| Event::SearchEnded { found });
            }
            was_searching
        }

        /// A number below `limit`.
        fn random(&self, limit: usize) -> usize {
            // Marsaglia's xorshift.
            let mut random = self.random.get();
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            self.random.set(random);
            random as usize % limit
        }

        fn sleep(&self) {
            let Shared { sleepers, .. } = &*self.shared;
            let is_last = sleepers.sleep(self.index, self.end_search(false));
            if is_last && self.shared.has_work() {
                let is_free = sleepers.wake(self.index);
                // As a searcher, so that it tells the next one if there is more.
                self.set_searching(!is_free || sleepers.try_search());
                return;
            }
            if !self.shared.is_shut_down() {
                self.tell(|| Event::Parked);
                self.parker.park();
                self.tell(|| Event::Unparked);
            }
            self.set_searching(!sleepers.wake(self.index));
        }
    }
}
