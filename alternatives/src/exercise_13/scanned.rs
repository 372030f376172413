//! No list, and no count of those who sleep: each worker has a flag, and `notify`
//! goes through them all. Only those who search are counted.
//!
//! Who is about to name one counts as a searcher already, so one at a time goes
//! through the flags. If it finds nobody it has to look again after it has left
//! the count: a worker that fell asleep in between took it for a searcher.

use primitives::atomic::{AtomicBool, AtomicU32, Ordering, fence};

use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

#[path = "../../../exercises/13-sleepers/src/activity.rs"]
mod activity;

pub use activity::Activity;

/// Decides who sleeps, who searches, and whom to wake.
pub struct Sleepers {
    searching_count: AtomicU32,
    /// Whether the worker of this index sleeps.
    is_asleep: Box<[AtomicBool]>,
}

impl Sleepers {
    /// Makes the sleepers of so many workers.
    ///
    /// # Panics
    ///
    /// If there is no worker.
    pub fn new(workers: usize) -> Self {
        assert!(workers > 0, "there is no worker");
        Self {
            searching_count: AtomicU32::new(0),
            is_asleep: (0..workers).map(|_| AtomicBool::new(false)).collect(),
        }
    }

    /// Returns the worker to unpark.
    pub fn notify(&self) -> Option<usize> {
        loop {
            // SeqCst: pairs with the fence in `transition_to_parked`. Here the work, or the end
            // of the search below, then the flags and the count; there the flag,
            // then the count and the queues.
            fence(SeqCst);
            // Relaxed: the fence orders them.
            let is_searched = self.searching_count.load(Relaxed) > 0;
            if is_searched || !self.is_any_asleep() {
                return None;
            }
            // Acquire: a searcher's `transition_from_searching` comes before what this one does.
            self.searching_count
                .compare_exchange(0, 1, Acquire, Relaxed)
                .ok()?;
            let mut flags = self.is_asleep.iter();
            if let Some(worker) = flags.position(take) {
                return Some(worker);
            }
            // Release: who sees it sees the work.
            self.searching_count.fetch_sub(1, Release);
        }
    }

    fn is_any_asleep(&self) -> bool {
        // Relaxed: the fence before it orders it.
        self.is_asleep.iter().any(|flag| flag.load(Relaxed))
    }

    /// Returns `true` if the caller may search.
    pub fn transition_to_searching(&self) -> bool {
        let most = self.is_asleep.len().div_ceil(2) as u32;
        let search = |count| (count < most).then_some(count + 1);
        // Relaxed: a search that misses what comes just now is made good by who
        // ends the last search.
        self.searching_count
            .fetch_update(Relaxed, Relaxed, search)
            .is_ok()
    }

    /// Returns `true` if the caller must notify.
    #[must_use]
    pub fn transition_from_searching(&self) -> bool {
        // Release: what this one has moved is seen by the last look.
        self.searching_count.fetch_sub(1, Release) == 1
    }

    /// Returns `true` if the caller must look once more.
    #[must_use]
    pub fn transition_to_parked(&self, worker: usize, was: Activity) -> bool {
        // A swap, and not a store, which loom may put before an earlier swap of
        // another thread. Relaxed: published by what follows.
        self.is_asleep[worker].swap(true, Relaxed);
        // A read that is a write if it did not search: it sees the newest count.
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
        match take(&self.is_asleep[worker]) {
            true => Activity::Busy,
            false => Activity::Searching,
        }
    }
}

/// Returns `true` to one of those who take this flag while it is set.
fn take(flag: &AtomicBool) -> bool {
    // AcqRel: what happened before a worker was named happens before its `transition_from_parked`.
    flag.swap(false, AcqRel)
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/13-sleepers/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/13-sleepers/src/tests/mod.rs"]
mod tests;
