//! In Go's manner: the searchers have a count of their own, and the sleepers are a list under a
//! lock. `notify` starts the search of the worker that it will wake before it knows whether there
//! is one. If there isn't, it ends that search under the lock, under which each worker that parks
//! looks at the count.

use std::sync::PoisonError;

use primitives::atomic::{AtomicUsize, Ordering, fence};
use primitives::{Mutex, MutexGuard};

use Ordering::{AcqRel, Acquire, Relaxed, SeqCst};

#[path = "../../../exercises/13-sleepers/src/activity.rs"]
mod activity;

pub use activity::Activity;

/// Knows which workers are parked and which search, and decides which one to wake.
pub struct Sleepers {
    workers: usize,
    searching_count: AtomicUsize,
    /// The number of workers in the list, for threads that look without the lock. Changed only by
    /// the thread that has the lock.
    parked_count: AtomicUsize,
    parked: Mutex<Vec<usize>>,
}

impl Sleepers {
    /// Makes the sleepers of `workers` workers.
    ///
    /// # Panics
    ///
    /// If there is no worker.
    pub fn new(workers: usize) -> Self {
        assert!(workers > 0, "there is no worker");
        Self {
            workers,
            searching_count: AtomicUsize::new(0),
            parked_count: AtomicUsize::new(0),
            parked: Mutex::new(Vec::with_capacity(workers)),
        }
    }

    /// Returns the worker to unpark.
    pub fn notify(&self) -> Option<usize> {
        // SeqCst: pairs with the fence in `transition_to_parked`: here the work first, then the
        // counts; there the counts first, then the queues.
        fence(SeqCst);
        // Relaxed, both: the fence orders them.
        if self.parked_count.load(Relaxed) == 0
            || self.searching_count.load(Relaxed) > 0
        {
            return None;
        }
        // Acquire: a searcher's `transition_from_searching` comes before what this thread does.
        self.searching_count
            .compare_exchange(0, 1, Acquire, Relaxed)
            .ok()?;
        let mut parked = self.lock();
        let worker = parked.pop();
        match worker {
            // Relaxed: it is changed under the lock.
            Some(_) => self.parked_count.fetch_sub(1, Relaxed),
            // Relaxed: a worker that parks looks at it under the lock.
            None => self.searching_count.fetch_sub(1, Relaxed),
        };
        worker
    }

    /// Returns `true` if the caller may search.
    pub fn transition_to_searching(&self) -> bool {
        let most = self.workers.div_ceil(2);
        let search = |count| (count < most).then_some(count + 1);
        // Relaxed: if a search misses what comes just now, the thread that ends the last search
        // makes up for it.
        self.searching_count
            .fetch_update(Relaxed, Relaxed, search)
            .is_ok()
    }

    /// Returns `true` if the caller must notify.
    #[must_use]
    pub fn transition_from_searching(&self) -> bool {
        // Release: the last look sees what this worker has moved. Acquire: not
        // needed, but all changes of this count are alike.
        self.searching_count.fetch_sub(1, AcqRel) == 1
    }

    /// Returns `true` if the caller must look again.
    #[must_use]
    pub fn transition_to_parked(&self, worker: usize, was: Activity) -> bool {
        let mut parked = self.lock();
        parked.push(worker);
        // Relaxed: the fence below publishes it.
        self.parked_count.fetch_add(1, Relaxed);
        let less = usize::from(was == Activity::Searching);
        // Acquire: pairs with the Release in `transition_from_searching`; an RMW even where it
        // takes nothing off, so that it sees the newest count.
        let before = self.searching_count.fetch_sub(less, AcqRel);
        drop(parked);
        // SeqCst: pairs with the fence in `notify`.
        fence(SeqCst);
        before == less
    }

    /// Returns what this worker does from now on.
    #[must_use]
    pub fn transition_from_parked(&self, worker: usize) -> Activity {
        let mut parked = self.lock();
        let place = parked.iter().position(|it| *it == worker);
        let Some(place) = place else {
            return Activity::Searching;
        };
        parked.swap_remove(place);
        // Relaxed: it is changed under the lock.
        self.parked_count.fetch_sub(1, Relaxed);
        Activity::Busy
    }

    fn lock(&self) -> MutexGuard<'_, Vec<usize>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/13-sleepers/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/13-sleepers/src/tests/mod.rs"]
mod tests;
