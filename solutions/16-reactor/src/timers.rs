//! The timers of a driver. It has several sets of exercise 5's, so that threads
//! seldom contend for a lock.
//!
//! A web server begins a sleep for each request, and drops it when the request
//! has come. If all workers shared one set, then its lock, its wheel and its
//! reference count would go from core to core with each request. So each sleep
//! goes to the set of the thread that creates it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Instant;

/// The driver asks all sets before each wait, so there can't be many.
const MOST: usize = 8;

/// As many sets as threads can run at the same time, up to [`MOST`].
#[derive(Clone)]
pub struct Timers {
    sets: Arc<[Arc<sleep::Timers>]>,
}

impl Timers {
    /// Creates timers for which no sleep waits. They call `unpark` when one of
    /// the sets must be asked earlier than it said. The driver may have said
    /// that it will look earlier anyway, for another set; then the call is in
    /// vain.
    pub fn new(unpark: impl Fn() + Clone + Send + Sync + 'static) -> Self {
        let cores = thread::available_parallelism();
        let count = cores.map_or(1, |count| count.get().min(MOST));
        let set = |_| Arc::new(sleep::Timers::new(unpark.clone()));
        Self {
            sets: (0..count).map(set).collect(),
        }
    }

    /// Returns the set of this thread.
    pub fn of_this_thread(&self) -> &Arc<sleep::Timers> {
        &self.sets[THREAD.with(|number| number % self.sets.len())]
    }

    /// Wakes all sleeps that are due at `now`, and returns when to call it
    /// again.
    pub fn fire(&self, now: Instant) -> Option<Instant> {
        self.sets.iter().filter_map(|set| set.fire(now)).min()
    }
}

thread_local! {
    /// The number of this thread, in the order in which threads create their
    /// first sleep. So the workers of a runtime mostly have different sets.
    static THREAD: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        // Relaxed: it is only a number.
        NEXT.fetch_add(1, Relaxed)
    };
}
