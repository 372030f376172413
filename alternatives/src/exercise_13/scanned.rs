//! No list, and no count of the sleepers: each worker has a flag, and `notify` goes through them
//! all. Only the searchers are counted.
//!
//! A thread that is about to choose a worker already counts as a searcher, so one thread at a time
//! goes through the flags. If it finds no sleeper it has to look again after it has left the count:
//! a worker that parked in between took it for a searcher.

use primitives::atomic::{AtomicBool, AtomicU32, Ordering, fence};

use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

#[path = "../../../exercises/13-sleepers/src/activity.rs"]
mod activity;

pub use activity::Activity;

/// Knows which workers are parked and which search, and decides which one to wake.
pub struct Sleepers {
    searching_count: AtomicU32,
    /// Whether the worker with this index is parked.
    is_parked: Box<[AtomicBool]>,
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
            searching_count: AtomicU32::new(0),
            is_parked: (0..workers).map(|_| AtomicBool::new(false)).collect(),
        }
    }

    /// Returns the worker to unpark.
    pub fn notify(&self) -> Option<usize> {
        loop {
            // SeqCst: pairs with the fence in `transition_to_parked`. Here the work, or the end of
            // the search below, comes first, then the flags and the count; there the flag comes
            // first, then the count and the queues.
            fence(SeqCst);
            // Relaxed: the fence orders them.
            let is_searched = self.searching_count.load(Relaxed) > 0;
            if is_searched || !self.is_any_parked() {
                return None;
            }
            // Acquire: a searcher's `transition_from_searching` comes before what this thread does.
            self.searching_count
                .compare_exchange(0, 1, Acquire, Relaxed)
                .ok()?;
            let mut flags = self.is_parked.iter();
            if let Some(worker) = flags.position(take) {
                return Some(worker);
            }
            // Release: a thread that sees it sees the work.
            self.searching_count.fetch_sub(1, Release);
        }
    }

    fn is_any_parked(&self) -> bool {
        // Relaxed: the fence before it orders it.
        self.is_parked.iter().any(|flag| flag.load(Relaxed))
    }

    /// Returns `true` if the caller may search.
    pub fn transition_to_searching(&self) -> bool {
        let most = self.is_parked.len().div_ceil(2) as u32;
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
        // Release: the last look sees what this worker has moved.
        self.searching_count.fetch_sub(1, Release) == 1
    }

    /// Returns `true` if the caller must look again.
    #[must_use]
    pub fn transition_to_parked(&self, worker: usize, was: Activity) -> bool {
        // A swap instead of a store, because loom may put a store before an earlier swap of another
        // thread. Relaxed: published by what follows.
        self.is_parked[worker].swap(true, Relaxed);
        // A read that is a write if it didn't search: it sees the newest count.
        // Release: for the flag. Acquire: for what others have moved.
        let less = u32::from(was == Activity::Searching);
        let before = self.searching_count.fetch_sub(less, AcqRel);
        // SeqCst: pairs with the fence in `notify`.
        fence(SeqCst);
        // Relaxed: the fence orders it.
        before == less || self.searching_count.load(Relaxed) == 0
    }

    /// Returns what this worker does from now on.
    #[must_use]
    pub fn transition_from_parked(&self, worker: usize) -> Activity {
        match take(&self.is_parked[worker]) {
            true => Activity::Busy,
            false => Activity::Searching,
        }
    }
}

/// Returns `true` to one of the threads that take this flag while it is set.
fn take(flag: &AtomicBool) -> bool {
    // AcqRel: what happened before a worker was chosen happens before its `transition_from_parked`.
    flag.swap(false, AcqRel)
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/13-sleepers/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/13-sleepers/src/tests/mod.rs"]
mod tests;
