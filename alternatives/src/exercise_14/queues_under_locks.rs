//! Each worker has an unbounded queue under a lock, and one more queue takes all that
//! comes from elsewhere. There's no LIFO slot: a woken task goes to the end. A worker
//! without tasks takes half of another worker's.

use std::collections::VecDeque;

use async_task::Runnable;
use primitives::Mutex;

use super::front;
pub use super::front::{Handle, JoinHandle, sleep, spawn, spawn_blocking};
pub use yield_now::yield_now;

/// A runtime of these workers.
pub type Runtime = front::Runtime<front::pool::Pool<Queues>>;

type Queue = Mutex<VecDeque<Runnable>>;

/// The queues of all workers; the last queue is for all other threads.
pub struct Queues(Vec<Queue>);

impl Queues {
    fn pop_from(&self, place: usize) -> Option<Runnable> {
        self.0[place].lock().unwrap().pop_front()
    }

    /// Takes half of the queue, rounded up.
    fn take_half(&self, from: usize, to: usize) -> Option<Runnable> {
        let mut queue = self.0[from].lock().unwrap();
        let half = queue.len().div_ceil(2);
        let mut tasks: VecDeque<_> = queue.drain(..half).collect();
        drop(queue);
        let first = tasks.pop_front()?;
        self.0[to].lock().unwrap().append(&mut tasks);
        Some(first)
    }
}

impl front::pool::Queues for Queues {
    /// The worker's index.
    type Own = usize;

    fn new(count: usize) -> (Self, Vec<usize>) {
        let queues = (0..=count).map(|_| Queue::default()).collect();
        (Self(queues), (0..count).collect())
    }

    fn push(&self, own: &usize, task: Runnable, _: bool) {
        self.0[*own].lock().unwrap().push_back(task);
    }

    fn inject(&self, task: Runnable) {
        self.0[self.0.len() - 1].lock().unwrap().push_back(task);
    }

    fn pop(&self, own: &usize) -> Option<Runnable> {
        self.pop_from(*own)
    }

    fn take_injected(&self, _: &usize) -> Option<Runnable> {
        self.pop_from(self.0.len() - 1)
    }

    fn steal(&self, own: &usize) -> Option<Runnable> {
        let count = self.0.len() - 1;
        let mut others = (1..count).map(|step| (own + step) % count);
        others.find_map(|other| self.take_half(other, *own))
    }

    fn is_any(&self) -> bool {
        self.0.iter().any(|queue| !queue.lock().unwrap().is_empty())
    }
}

#[cfg(all(test, any(feature = "loom", feature = "shuttle")))]
#[path = "../../../exercises/14-work-stealing/src/models/mod.rs"]
mod models;
#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "../../../exercises/14-work-stealing/src/tests/mod.rs"]
mod tests;
