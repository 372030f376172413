//! The timers of a driver. There are several of exercise 5's, so that threads
//! seldom contend.
//!
//! A web server begins a sleep for each request, and drops it when the request
//! has come. If all workers shared the timers, then their lock, their wheel and
//! their reference count would go from core to core with each request. So each
//! sleep goes to the timers of the thread that creates it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Instant;

use sleep::Sleep;

/// The driver asks all timers before each wait, so there can't be many.
const MOST: usize = 8;

/// As many timers as threads can run at the same time, up to [`MOST`].
#[derive(Clone)]
pub struct Timers {
    shards: Arc<[sleep::Timers]>,
}

impl Timers {
    /// Creates timers for which no sleep waits. They call `unpark` when the
    /// driver must call [`fire`](Self::fire) earlier than it said.
    pub fn new(unpark: impl Fn() + Clone + Send + Sync + 'static) -> Self {
        let processors = thread::available_parallelism();
        let count = processors.map_or(1, |count| count.get().min(MOST));
        let shard = |_| sleep::Timers::new(unpark.clone());
        Self {
            shards: (0..count).map(shard).collect(),
        }
    }

    /// Creates a sleep that ends when `deadline` or a later time is passed to
    /// [`fire`](Self::fire).
    pub fn sleep_until(&self, deadline: Instant) -> Sleep {
        let shard = THREAD.with(|number| number % self.shards.len());
        self.shards[shard].sleep_until(deadline)
    }

    /// Wakes all sleeps that are due at `now`, and returns when to call it
    /// again.
    pub fn fire(&self, now: Instant) -> Option<Instant> {
        self.shards.iter().filter_map(|it| it.fire(now)).min()
    }
}

thread_local! {
    /// The number of this thread. Threads that use timers one after another
    /// for the first time, as the workers do, get different ones.
    static THREAD: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        // Relaxed: it is only a number.
        NEXT.fetch_add(1, Relaxed)
    };
}
