//! Each worker has a LIFO slot, and thieves take from it, too: one task at a time,
//! and the task in the slot last. The slot returns at most twenty tasks in a row. A
//! queue holds sixty-four tasks; each that doesn't fit goes elsewhere, alone.

use std::collections::VecDeque;

use async_task::Runnable;
use primitives::{Mutex, MutexGuard};

use super::front;
pub use super::front::{Handle, JoinHandle, sleep, spawn, spawn_blocking};
pub use yield_now::yield_now;

/// A runtime of these workers.
pub type Runtime = front::Runtime<front::pool::Pool<Queues>>;

/// How many tasks in a row come from the slot.
const MOST_IN_A_ROW: usize = 20;
/// How many tasks a worker's queue holds.
const MOST_QUEUED: usize = 64;

/// What all workers share.
pub struct Queues {
    workers: Vec<Mutex<Own>>,
    injected: Mutex<VecDeque<Runnable>>,
}

/// The tasks of one worker.
#[derive(Default)]
struct Own {
    next: Option<Runnable>,
    in_a_row: usize,
    queue: VecDeque<Runnable>,
}

impl Queues {
    fn of(&self, worker: usize) -> MutexGuard<'_, Own> {
        self.workers[worker].lock().unwrap()
    }
}

impl front::pool::Queues for Queues {
    /// The worker's index.
    type Own = usize;

    fn new(count: usize) -> (Self, Vec<usize>) {
        let queues = Self {
            workers: (0..count).map(|_| Mutex::default()).collect(),
            injected: Mutex::default(),
        };
        (queues, (0..count).collect())
    }

    fn push(&self, own: &usize, task: Runnable, has_yielded: bool) {
        let mut own = self.of(*own);
        let queued = match has_yielded {
            true => Some(task),
            false => own.next.replace(task),
        };
        let Some(queued) = queued else { return };
        if own.queue.len() < MOST_QUEUED {
            return own.queue.push_back(queued);
        }
        drop(own);
        self.inject(queued);
    }

    fn inject(&self, task: Runnable) {
        self.injected.lock().unwrap().push_back(task);
    }

    fn pop(&self, own: &usize) -> Option<Runnable> {
        let mut own = self.of(*own);
        own.in_a_row += 1;
        if own.in_a_row > MOST_IN_A_ROW || own.next.is_none() {
            own.in_a_row = 0;
            if let Some(task) = own.queue.pop_front() {
                return Some(task);
            }
        }
        own.next.take()
    }

    fn take_injected(&self, _: &usize) -> Option<Runnable> {
        self.injected.lock().unwrap().pop_front()
    }

    fn steal(&self, own: &usize) -> Option<Runnable> {
        let count = self.workers.len();
        let mut others = (1..count).map(|step| (own + step) % count);
        others.find_map(|other| {
            let mut other = self.of(other);
            other.queue.pop_front().or_else(|| other.next.take())
        })
    }

    fn is_any(&self) -> bool {
        let is_any = |own: &Own| own.next.is_some() || !own.queue.is_empty();
        !self.injected.lock().unwrap().is_empty()
            || (0..self.workers.len()).any(|worker| is_any(&self.of(worker)))
    }
}

#[cfg(all(test, any(feature = "loom", feature = "shuttle")))]
#[path = "../../../exercises/14-work-stealing/src/models/mod.rs"]
mod models;
#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "../../../exercises/14-work-stealing/src/tests/mod.rs"]
mod tests;
