//! Everything under one lock: the shortest correct version, and the one to write first. No fence is
//! needed: `notify` and `transition_to_parked` take the lock one after the other, so the later one
//! sees what the earlier one's thread wrote before.

use std::collections::VecDeque;
use std::sync::PoisonError;

use primitives::{Mutex, MutexGuard};

#[path = "../../../exercises/13-sleepers/src/activity.rs"]
mod activity;

pub use activity::Activity;

/// Knows which workers are parked and which search, and decides which one to wake.
pub struct Sleepers {
    workers: usize,
    state: Mutex<State>,
}

struct State {
    /// The worker that parked first comes first, and is unparked first.
    parked: VecDeque<usize>,
    searching_count: usize,
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
            state: Mutex::new(State {
                parked: VecDeque::with_capacity(workers),
                searching_count: 0,
            }),
        }
    }

    /// Returns the worker to unpark.
    pub fn notify(&self) -> Option<usize> {
        let mut state = self.lock();
        if state.searching_count > 0 {
            return None;
        }
        let worker = state.parked.pop_front()?;
        state.searching_count = 1;
        Some(worker)
    }

    /// Returns `true` if the caller may search.
    pub fn transition_to_searching(&self) -> bool {
        let mut state = self.lock();
        let may_search = state.searching_count < self.workers.div_ceil(2);
        state.searching_count += usize::from(may_search);
        may_search
    }

    /// Returns `true` if the caller must notify.
    #[must_use]
    pub fn transition_from_searching(&self) -> bool {
        let mut state = self.lock();
        state.searching_count -= 1;
        state.searching_count == 0
    }

    /// Returns `true` if the caller must look again.
    #[must_use]
    pub fn transition_to_parked(&self, worker: usize, was: Activity) -> bool {
        let mut state = self.lock();
        state.parked.push_back(worker);
        state.searching_count -= usize::from(was == Activity::Searching);
        state.searching_count == 0
    }

    /// Returns what this worker does from now on.
    #[must_use]
    pub fn transition_from_parked(&self, worker: usize) -> Activity {
        let mut state = self.lock();
        let place = state.parked.iter().position(|it| *it == worker);
        match place.and_then(|place| state.parked.remove(place)) {
            Some(_) => Activity::Busy,
            None => Activity::Searching,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/13-sleepers/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/13-sleepers/src/tests/mod.rs"]
mod tests;
