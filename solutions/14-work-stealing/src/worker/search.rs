//! Where a worker gets tasks that aren't its own: from the injector, also while
//! it's busy, and from the other workers' queues. If there are none, it parks.

use primitives::atomic::{Ordering::SeqCst, fence};

use super::super::driver::DriverSeat;
use super::super::events::{Event, Queue};
use super::super::injector::Share;
use super::super::shared::{CAPACITY, Shared, Task};
use super::super::sleepers::Activity;
use super::Worker;

/// The length of the first half of a queue, which stays if the queue overflows.
const HALF: usize = CAPACITY / 2;

impl Worker {
    // ANCHOR: take_in_time
    /// If tasks wait in the injector and it's time, takes a share of them,
    /// although there may be tasks in the queue.
    #[inline]
    pub fn take_in_time(&self) -> Option<Task> {
        if !self.pace.is_time() || self.shared.injector.is_empty() {
            return None;
        }
        self.take_busy()
    }
    // ANCHOR_END: take_in_time

    // ANCHOR: take_busy
    #[cold]
    fn take_busy(&self) -> Option<Task> {
        if self.queue.is_empty() && self.slot.is_empty() {
            // `find_work` takes more, and first ends this worker's search if it
            // was searching. A searcher mustn't poll: as long as it's counted
            // as one, `notify` unparks no worker for the tasks that come.
            // Model: `two_tasks_from_outside_run_in_whatever_order`.
            return None;
        }
        // All workers do the same, and half of their polls are for their own
        // tasks.
        let divisor = 2 * self.shared.workers.len();
        let most = self.pace.most();
        let task = self.take_share(Share { divisor, most })?;
        if self.has_left_any() {
            // A worker that looked for these while we carried them here saw
            // nothing, and may be parked now.
            // Model: `what_a_busy_worker_takes_is_shared_in_whatever_order`.
            self.notify_others();
        }
        Some(task)
    }
    // ANCHOR_END: take_busy

    /// Takes this worker's share of the injector if it has nothing else to do.
    fn take_injected(&self) -> Option<Task> {
        if self.shared.injector.is_empty() {
            return None;
        }
        let divisor = self.shared.workers.len();
        let most = CAPACITY;
        self.take_share(Share { divisor, most })
    }

    /// Takes a batch from the injector: the first task to be polled at once,
    /// the others for the first half of the queue. From there, they don't go
    /// back to the end of the injector before this worker or a thief has polled
    /// them.
    fn take_share(&self, mut share: Share) -> Option<Task> {
        let room = HALF.saturating_sub(self.queue.len());
        let room = room.min(self.queue.free());
        share.most = share.most.min(room + 1);
        let mut batch = self.batch.take();
        let first = self.shared.injector.take(share, &mut batch);
        let count = batch.len() + 1;
        for task in batch.drain(..) {
            let Ok(()) = self.queue.push(task) else {
                unreachable!("only its owner fills a queue, and it had room")
            };
        }
        self.batch.set(batch);
        let first = first?;
        // If the first half of the queue is full, it comes first.
        let as_if = if room > 0 { count } else { self.pace.most() };
        self.pace.took(as_if);
        self.emit(|| Event::Took { count });
        self.emit(|| Event::Popped(Queue::Local));
        Some(first)
    }

    /// Returns `true` if tasks wait where other workers could take them.
    fn has_left_any(&self) -> bool {
        !self.queue.is_empty() || !self.shared.injector.is_empty()
    }

    #[cold]
    pub fn find_work(&self) {
        let Some(task) = self.take_injected().or_else(|| self.search()) else {
            return self.park();
        };
        let must_notify = match self.end_search(true) {
            Activity::Searching => {
                self.shared.sleepers.transition_from_searching()
                    && self.has_missed_any()
            }
            // A worker that looked while we carried a batch here saw nothing,
            // and may be parked now.
            // Model: `what_comes_from_outside_is_shared_in_whatever_order`.
            Activity::Busy => self.has_left_any(),
        };
        if must_notify {
            // There may be more tasks than this one.
            self.shared.notify();
        }
        self.poll(task);
    }

    /// As long as this worker was counted as a searcher, `notify` may have
    /// unparked none for the tasks that came, and no worker has come for a driver
    /// that was left. Returns `true` if there are any, or there's such a
    /// driver. The look is worth it: to unpark a worker takes as long as
    /// hundreds of polls, and the task that was found waits for that.
    fn has_missed_any(&self) -> bool {
        // SeqCst: pairs with the fence in `notify`, and with the one in
        // `search_if_busy`. A thread that has seen this worker as a searcher
        // has pushed its task, or left the driver, before that, and this look
        // sees it.
        // Models: `two_tasks_from_outside_run_in_whatever_order` and
        // `the_driver_is_handed_on`. Exercise 13 has loom's models of the fence:
        // `a_searcher_that_looks_as_the_search_ends_sees_what_comes` and
        // `a_look_at_the_end_of_the_search_sees_what_another_searcher_has_moved`.
        fence(SeqCst);
        let driver = self.shared.driver.as_ref();
        self.shared.has_work() || driver.is_some_and(DriverSeat::is_free)
    }

    /// Searches the other workers' queues, unless enough workers do so already.
    fn search(&self) -> Option<Task> {
        if self.activity.get() == Activity::Busy {
            if !self.shared.sleepers.transition_to_searching() {
                return None;
            }
            self.set_activity(Activity::Searching);
        }
        self.steal().or_else(|| self.take_injected())
    }

    /// Steals from the first worker that has something. The order starts at a
    /// random worker, so that not all thieves go for the same one.
    fn steal(&self) -> Option<Task> {
        let workers = &self.shared.workers;
        let start = self.random(workers.len());
        let mut victims = (start..workers.len()).chain(0..start);
        victims.find_map(|from| {
            let task = workers[from].stealer.steal_into(&self.queue)?;
            // The queue was empty before.
            let count = || 1 + self.queue.len();
            self.emit(|| Event::Stole {
                from,
                count: count(),
            });
            self.emit(|| Event::Popped(Queue::Local));
            Some(task)
        })
    }

    pub fn set_activity(&self, activity: Activity) {
        self.activity.set(activity);
        if activity == Activity::Searching {
            self.emit(|| Event::SearchBegan);
        }
    }

    /// Returns what this worker did until now.
    pub fn end_search(&self, found: bool) -> Activity {
        let was = self.activity.replace(Activity::Busy);
        if was == Activity::Searching {
            self.emit(|| Event::SearchEnded { found });
        }
        was
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

    fn park(&self) {
        self.pace.restart();
        let Shared { sleepers, .. } = &*self.shared;
        let was = self.end_search(false);
        let is_last = sleepers.transition_to_parked(self.index, was);
        // A push before that may have seen no parked worker.
        // Model: `a_task_from_outside_runs_in_every_order`.
        if is_last && self.shared.has_work() {
            self.set_activity(sleepers.transition_from_parked(self.index));
            // As a searcher, so that it notifies the next if there is more.
            if self.activity.get() == Activity::Busy
                && sleepers.transition_to_searching()
            {
                self.set_activity(Activity::Searching);
            }
            return;
        }
        if self.park_in_driver() {
            return;
        }
        if !self.shared.is_shut_down() {
            self.emit(|| Event::Parked);
            self.parker.park();
            self.emit(|| Event::Unparked);
        }
        self.set_activity(sleepers.transition_from_parked(self.index));
    }
}
