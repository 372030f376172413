//! In the manner of kprotty's zap: there is one token. The worker that has it searches, and passes
//! it on when it has found work. So one worker searches at a time, no matter how many there are,
//! and nothing is counted.

use std::sync::PoisonError;

use primitives::atomic::{AtomicBool, Ordering, fence};
use primitives::{Mutex, MutexGuard};

use Ordering::{Relaxed, SeqCst};

#[path = "../../../exercises/13-sleepers/src/activity.rs"]
mod activity;

pub use activity::Activity;

/// Knows which workers are parked and which search, and decides which one to wake.
pub struct Sleepers {
    /// A worker searches, or a thread is about to unpark a worker that will.
    is_taken: AtomicBool,
    /// A worker that parks looks at the token under this lock, and a thread that finds no sleeper
    /// gives the token back under it.
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
            is_taken: AtomicBool::new(false),
            parked: Mutex::new(Vec::with_capacity(workers)),
        }
    }

    /// Returns the worker to unpark, which has the token.
    pub fn notify(&self) -> Option<usize> {
        // SeqCst: the work first, then the token. Pairs with the fence in `transition_to_parked`,
        // where the token comes first.
        fence(SeqCst);
        // Relaxed: the fence before it orders it.
        if self.is_taken.load(Relaxed) || !self.transition_to_searching() {
            return None;
        }
        let mut parked = self.lock();
        let worker = parked.pop();
        if worker.is_none() {
            self.give_back();
        }
        worker
    }

    /// Returns `true` if the caller has the token.
    pub fn transition_to_searching(&self) -> bool {
        // Relaxed: if a search misses what comes just now, the worker that gives the token back
        // makes up for it: it then notifies, or parks and looks again.
        !self.is_taken.swap(true, Relaxed)
    }

    /// Gives the token back.
    #[must_use]
    pub fn transition_from_searching(&self) -> bool {
        self.give_back();
        true
    }

    fn give_back(&self) {
        // A store would be enough. However, loom, unlike real memory, may put it before an earlier
        // swap of another thread.
        // Relaxed: a fence follows, in `transition_to_parked`, and as `transition_from_searching`
        // requires. In `notify` the lock passes it to the next sleeper.
        self.is_taken.swap(false, Relaxed);
    }

    /// Returns `true` if no worker has the token: the caller must look again.
    #[must_use]
    pub fn transition_to_parked(&self, worker: usize, was: Activity) -> bool {
        let mut parked = self.lock();
        parked.push(worker);
        if was == Activity::Searching {
            self.give_back();
        }
        // Relaxed: it is no older than what was given back under the lock, and
        // the fence orders it before the look at the queues.
        let is_taken = self.is_taken.load(Relaxed);
        drop(parked);
        // SeqCst: pairs with the fence in `notify`.
        fence(SeqCst);
        !is_taken
    }

    /// Returns what this worker does from now on.
    #[must_use]
    pub fn transition_from_parked(&self, worker: usize) -> Activity {
        let mut parked = self.lock();
        let place = parked.iter().position(|it| *it == worker);
        match place.map(|place| parked.swap_remove(place)) {
            Some(_) => Activity::Busy,
            None => Activity::Searching,
        }
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
