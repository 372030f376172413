//! In tokio's manner: the counts are packed in one word, and the sleepers are a stack under a lock.
//! The worker that parked last is unparked first.
//!
//! Instead of fences there are only RMWs of the counts. All RMWs of one word have an order, and the
//! later one sees what came before the earlier one. So all are `AcqRel`, which is simplest, though
//! not each of them needs both.

use std::sync::PoisonError;

use primitives::atomic::{AtomicU32, Ordering};
use primitives::{Mutex, MutexGuard};

use Ordering::{AcqRel, Relaxed};

#[path = "../../../exercises/13-sleepers/src/activity.rs"]
mod activity;

pub use activity::Activity;

const SEARCHING: u32 = 1;
const AWAKE: u32 = 1 << 16;

/// Knows which workers are parked and which search, and decides which one to wake.
pub struct Sleepers {
    workers: u32,
    /// How many search, and above that how many are awake.
    counts: AtomicU32,
    parked: Mutex<Vec<usize>>,
}

impl Sleepers {
    /// Makes the sleepers of `workers` workers.
    ///
    /// # Panics
    ///
    /// If there is no worker, or more than can be counted.
    pub fn new(workers: usize) -> Self {
        let count = u16::try_from(workers).expect("there are too many workers");
        assert!(count > 0, "there is no worker");
        Self {
            workers: count.into(),
            counts: AtomicU32::new(AWAKE * u32::from(count)),
            parked: Mutex::new(Vec::with_capacity(workers)),
        }
    }

    /// Returns the worker to unpark.
    pub fn notify(&self) -> Option<usize> {
        // A read that is a write, as said above. Release: pairs with the
        // Acquire in `transition_to_parked` and `transition_from_searching`; shows the work that was pushed.
        if !self.should_notify(self.counts.fetch_add(0, AcqRel)) {
            return None;
        }
        let mut parked = self.lock();
        let wake = |counts| {
            self.should_notify(counts)
                .then_some(counts + AWAKE + SEARCHING)
        };
        // AcqRel: as all are. Relaxed if it fails: in that case nothing has happened.
        self.counts.fetch_update(AcqRel, Relaxed, wake).ok()?;
        parked.pop()
    }

    fn should_notify(&self, counts: u32) -> bool {
        counts.is_multiple_of(AWAKE) && counts / AWAKE < self.workers
    }

    /// Returns `true` if the caller may search.
    pub fn transition_to_searching(&self) -> bool {
        let most = self.workers.div_ceil(2);
        let search =
            |counts| (counts % AWAKE < most).then_some(counts + SEARCHING);
        // AcqRel: as all are; a search sees what was pushed before it began.
        // Relaxed if it fails: in that case nothing has happened.
        self.counts.fetch_update(AcqRel, Relaxed, search).is_ok()
    }

    /// Returns `true` if the caller must notify.
    #[must_use]
    pub fn transition_from_searching(&self) -> bool {
        // Release: pairs with the Acquire in `transition_to_parked`; shows what this worker has
        // moved.
        // Acquire: pairs with `notify`, for the worker that is woken next.
        self.counts.fetch_sub(SEARCHING, AcqRel) % AWAKE == SEARCHING
    }

    /// Returns `true` if the caller must look again.
    #[must_use]
    pub fn transition_to_parked(&self, worker: usize, was: Activity) -> bool {
        let less = match was {
            Activity::Busy => AWAKE,
            Activity::Searching => AWAKE + SEARCHING,
        };
        let mut parked = self.lock();
        parked.push(worker);
        // Acquire: pairs with the Release in `notify` and `transition_from_searching`; the last
        // look sees what was pushed and moved. Release: as all are.
        let before = self.counts.fetch_sub(less, AcqRel);
        (before - less).is_multiple_of(AWAKE)
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
        // AcqRel: as all are; under the lock Relaxed would do.
        self.counts.fetch_add(AWAKE, AcqRel);
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
