//! What a worker does all day.
//!
//! It polls the tasks of its own slot and queue. When these are empty, and now
//! and then in any case, it looks at the injector; then it searches the queues
//! of the others; then it sleeps.

use std::cell::Cell;
use std::sync::Arc;

use parker::Parker;
use run_queue::Local;

use super::context;
use super::injector::List;
use super::shared::{CAPACITY, Shared, Task};
use super::slot::Slot;

/// So many tasks are taken from the injector at once: half a queue.
const BATCH: usize = CAPACITY / 2;

/// A worker, on its own thread.
pub struct Worker {
    shared: Arc<Shared>,
    index: usize,
    slot: Slot,
    queue: Local<Task, CAPACITY>,
    parker: Parker,
    /// Polls since the last look at the injector.
    polls: Cell<u32>,
    /// Whether it is counted by the sleepers as one that searches.
    is_searching: Cell<bool>,
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
            shared,
            index,
            slot: Slot::new(),
            queue,
            parker,
            polls: Cell::new(0),
            is_searching: Cell::new(false),
            // Any start but 0 will do, as long as they differ.
            random: Cell::new(index as u32 + 1),
        }
    }

    /// Returns `true` if this is a worker of that runtime.
    #[inline]
    pub fn is_of(&self, runtime: &Shared) -> bool {
        std::ptr::eq(&*self.shared, runtime)
    }

    /// A task that runs here has woken or spawned `task`: it is the next one.
    /// Only the one that it displaces can be stolen, so only then is there
    /// something to tell the others.
    #[inline]
    pub fn schedule(&self, task: Task) {
        if let Some(displaced) = self.slot.put(task) {
            self.push(displaced);
            self.shared.notify();
        }
    }

    /// A task that ran here has yielded: it is the last one. It has not waited
    /// so far, so nobody has been told of it. That is needed only if another
    /// comes before it that nobody has been told of: the one in the slot.
    #[inline]
    pub fn schedule_yielded(&self, task: Task) {
        self.push(task);
        if !self.slot.is_empty() {
            self.shared.notify();
        }
    }

    #[inline]
    fn push(&self, task: Task) {
        if let Err(task) = self.queue.push(task) {
            self.overflow(task);
        }
    }

    /// Moves half of the queue to the injector, so that there is room for some
    /// time.
    #[cold]
    fn overflow(&self, task: Task) {
        let mut half = List::new();
        self.queue.push_or_overflow(task, |task| half.push(task));
        self.shared.injector.append(half);
        self.shared.notify();
    }

    /// Runs tasks until the runtime is shut down, then drops what it has.
    pub fn run(self) {
        let _entered = context::Entered::new(self.shared.clone());
        context::run_as(&self, || {
            while !self.shared.is_shut_down() {
                self.turn();
            }
        });
        // This thread is no worker now: what the destructors wake goes to the
        // injector.
        drop(self.slot.take_anyway());
        while let Some(task) = self.queue.pop() {
            drop(task);
        }
        self.shared.leave(1);
    }

    /// Polls tasks until there are none, or until it is time to look at the
    /// injector, and does so.
    fn turn(&self) {
        while self.polls.get() < self.shared.global_queue_interval {
            let Some(task) = self.next() else {
                return self.find_work();
            };
            self.poll(task);
            if self.shared.is_shut_down() {
                return;
            }
        }
        self.polls.set(0);
        if let Some(task) = self.take_injected() {
            self.poll(task);
        }
    }

    #[inline]
    fn poll(&self, task: Task) {
        self.polls.set(self.polls.get() + 1);
        task.run();
    }

    #[inline]
    fn next(&self) -> Option<Task> {
        let next = self.slot.take();
        let next = next.or_else(|| self.queue.pop());
        next.or_else(|| self.slot.take_anyway())
    }

    /// Takes a batch from the injector: the first to be polled at once, the
    /// others for the queue.
    fn take_injected(&self) -> Option<Task> {
        if self.shared.injector.is_empty() {
            return None;
        }
        let most = BATCH.min(self.queue.free()) + 1;
        self.shared.injector.take(most, |task| {
            let Ok(()) = self.queue.push(task) else {
                unreachable!("only its owner fills a queue, and it had room")
            };
        })
    }

    #[cold]
    fn find_work(&self) {
        let Some(task) = self.take_injected().or_else(|| self.search()) else {
            return self.sleep();
        };
        if self.is_searching.replace(false) && self.shared.sleepers.found() {
            // There may be more than this one.
            self.shared.notify();
        }
        self.poll(task);
    }

    /// Looks at the queues of the others, unless enough do so already.
    fn search(&self) -> Option<Task> {
        if !self.is_searching.get() && !self.shared.sleepers.try_search() {
            return None;
        }
        self.is_searching.set(true);
        self.steal().or_else(|| self.take_injected())
    }

    /// Steals from the first that has something, in an order that is never the
    /// same, so that not all fall upon one.
    fn steal(&self) -> Option<Task> {
        let workers = &self.shared.workers;
        let (before, after) = workers.split_at(self.random(workers.len()));
        let mut victims = after.iter().chain(before);
        victims.find_map(|victim| victim.stealer.steal_into(&self.queue))
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
        let is_last = sleepers.sleep(self.index, self.is_searching.take());
        if is_last && self.shared.has_work() {
            let is_free = sleepers.wake(self.index);
            // As a searcher, so that it tells the next one if there is more.
            self.is_searching.set(!is_free || sleepers.try_search());
            return;
        }
        if !self.shared.is_shut_down() {
            self.parker.park();
        }
        self.is_searching.set(!sleepers.wake(self.index));
    }
}
