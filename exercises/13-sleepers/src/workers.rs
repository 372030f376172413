//! How workers use [`Sleepers`]: a scheduler with nothing else in it. Its
//! queues have no tasks; they only count how many there are.

use std::mem;

use parker::{Parker, Unparker};
use primitives::atomic::{AtomicBool, AtomicUsize, Ordering};
use primitives::{Arc, thread};

use super::super::Activity::{self, Busy, Searching};
use super::super::Sleepers;

use Ordering::{AcqRel, Acquire, Relaxed, Release};

/// What a worker does for each task: called with the scheduler and the
/// worker's number.
pub type Job = Box<dyn Fn(&Scheduler, usize) + Send + Sync>;

/// A queue without items. One thread at a time pushes, and any thread takes.
#[derive(Default)]
pub struct Queue {
    /// How many have been taken.
    head: AtomicUsize,
    /// How many have been pushed.
    tail: AtomicUsize,
}

impl Queue {
    /// As cheap as that of a run queue: one store, which orders nothing that
    /// comes after it.
    pub fn push(&self) {
        self.tail.store(self.tail.load(Relaxed) + 1, Release);
    }

    pub fn is_empty(&self) -> bool {
        // Acquire: the thread that moved the head had seen the tail, and so do
        // we.
        self.head.load(Acquire) == self.tail.load(Acquire)
    }

    fn take(&self) -> bool {
        let mut head = self.head.load(Acquire);
        while head != self.tail.load(Acquire) {
            let taken =
                self.head.compare_exchange(head, head + 1, AcqRel, Acquire);
            match taken {
                Ok(_) => return true,
                Err(other) => head = other,
            }
        }
        false
    }
}

/// What the workers share.
pub struct Scheduler {
    sleepers: Sleepers,
    /// One for each worker, and the last one for remote pushes.
    queues: Vec<Queue>,
    unparkers: Vec<Unparker>,
    is_over: AtomicBool,
    job: Job,
}

/// Workers that run until they are dropped.
pub struct Workers {
    scheduler: Arc<Scheduler>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Workers {
    /// Starts `count` workers, which do `job` once for each push.
    pub fn start(count: usize, job: Job) -> Self {
        let parkers: Vec<_> = (0..count).map(|_| Parker::new()).collect();
        let scheduler = Arc::new(Scheduler {
            sleepers: Sleepers::new(count),
            queues: (0..=count).map(|_| Queue::default()).collect(),
            unparkers: parkers.iter().map(Parker::unparker).collect(),
            is_over: AtomicBool::new(false),
            job,
        });
        let threads =
            parkers.into_iter().enumerate().map(|(worker, parker)| {
                let scheduler = scheduler.clone();
                thread::spawn(move || scheduler.work(worker, &parker))
            });
        Self {
            threads: threads.collect(),
            scheduler,
        }
    }

    /// Pushes `count` jobs, one by one, into the queue for remote pushes. To be
    /// called by one thread only.
    pub fn push(&self, count: usize) {
        self.scheduler.push(self.threads.len(), count);
    }

    /// Has all workers end. Panics if one has panicked.
    pub fn end(self) {
        self.scheduler.is_over.store(true, Release);
        self.scheduler.unparkers.iter().for_each(Unparker::unpark);
        for thread in self.threads {
            thread.join().expect("a worker doesn't panic");
        }
    }
}

impl Scheduler {
    /// Pushes `count` jobs into the queue of this worker, which must be the
    /// caller.
    pub fn push(&self, worker: usize, count: usize) {
        for _ in 0..count {
            self.queues[worker].push();
            self.notify();
        }
    }

    fn notify(&self) {
        if let Some(worker) = self.sleepers.notify() {
            self.unparkers[worker].unpark();
        }
    }

    // ANCHOR: work
    /// The loop of a worker.
    fn work(&self, worker: usize, parker: &Parker) {
        let mut activity = Busy;
        while !self.is_over.load(Acquire) {
            if self.take(worker, activity) {
                if mem::replace(&mut activity, Busy) == Searching
                    && self.sleepers.transition_from_searching()
                {
                    self.notify();
                }
                (self.job)(self, worker);
            } else if activity == Busy
                && self.sleepers.transition_to_searching()
            {
                activity = Searching;
            } else {
                activity = self.park(worker, activity, parker);
            }
        }
    }

    /// Returns what the worker does once it's unparked.
    fn park(&self, worker: usize, was: Activity, parker: &Parker) -> Activity {
        let must_look = self.sleepers.transition_to_parked(worker, was);
        if must_look && !self.queues.iter().all(Queue::is_empty) {
            let now = self.sleepers.transition_from_parked(worker);
            return match now == Busy && self.sleepers.transition_to_searching()
            {
                true => Searching,
                false => now,
            };
        }
        parker.park();
        self.sleepers.transition_from_parked(worker)
    }
    // ANCHOR_END: work

    /// Takes from the own queue, then from the queue for remote pushes, and
    /// then, if it searches, from those of the other workers.
    fn take(&self, worker: usize, activity: Activity) -> bool {
        let outside = self.unparkers.len();
        self.queues[worker].take()
            || self.queues[outside].take()
            || activity == Searching && self.queues.iter().any(Queue::take)
    }
}
