//! The deques of Chase and Lev, from crossbeam: they grow, so they never overflow.
//! There's no LIFO slot. An idle worker takes tasks from the injector in batches, a
//! busy worker one at a time.

use std::iter;

use async_task::Runnable;
use crossbeam_deque::{Injector, Steal, Stealer, Worker};

use super::front;
pub use super::front::{Handle, JoinHandle, sleep, spawn, spawn_blocking};
pub use yield_now::yield_now;

/// A runtime of these workers.
pub type Runtime = front::Runtime<front::pool::Pool<Queues>>;

/// What all workers share.
pub struct Queues {
    injector: Injector<Runnable>,
    stealers: Vec<Stealer<Runnable>>,
}

/// A worker's own deque.
pub struct Own {
    worker: usize,
    deque: Worker<Runnable>,
}

/// Repeats the attempt as long as it returns `Retry`.
fn retry<T>(steal: impl FnMut() -> Steal<T>) -> Option<T> {
    let tries = iter::repeat_with(steal);
    let mut ended = tries.filter(|result| !result.is_retry());
    ended.next().and_then(Steal::success)
}

impl front::pool::Queues for Queues {
    type Own = Own;

    fn new(count: usize) -> (Self, Vec<Own>) {
        let own = (0..count).map(|worker| Own {
            worker,
            deque: Worker::new_fifo(),
        });
        let own: Vec<_> = own.collect();
        let queues = Self {
            injector: Injector::new(),
            stealers: own.iter().map(|own| own.deque.stealer()).collect(),
        };
        (queues, own)
    }

    fn push(&self, own: &Own, task: Runnable, _: bool) {
        own.deque.push(task);
    }

    fn inject(&self, task: Runnable) {
        self.injector.push(task);
    }

    fn pop(&self, own: &Own) -> Option<Runnable> {
        own.deque.pop()
    }

    fn take_injected(&self, own: &Own) -> Option<Runnable> {
        match own.deque.is_empty() {
            true => retry(|| self.injector.steal_batch_and_pop(&own.deque)),
            false => retry(|| self.injector.steal()),
        }
    }

    fn steal(&self, own: &Own) -> Option<Runnable> {
        let (before, after) = self.stealers.split_at(own.worker);
        let mut others = after.iter().skip(1).chain(before);
        others.find_map(|other| retry(|| other.steal_batch_and_pop(&own.deque)))
    }

    fn is_any(&self) -> bool {
        !self.injector.is_empty()
            || self.stealers.iter().any(|stealer| !stealer.is_empty())
    }
}

#[cfg(all(test, any(feature = "loom", feature = "shuttle")))]
#[path = "../../../exercises/14-work-stealing/src/models/mod.rs"]
mod models;
#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "../../../exercises/14-work-stealing/src/tests/mod.rs"]
mod tests;
