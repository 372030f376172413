//! Breaks clause 2: Whom to wake.
//! Caught by: at_first_all_are_busy
//! Also fails: as_many_workers_come_as_there_are_jobs
//! Also fails: jobs_that_a_worker_pushes_reach_the_others
//! Also fails: thousands_of_jobs_find_a_worker
//! Also fails: half_of_256_may_search_while_the_others_sleep
//!
//! A thread that has just been started does nothing yet, so it is listed as one
//! that sleeps, until it says that it is up. But workers say that only when they
//! have slept. Whoever is woken was not asleep, and counts as a searcher that
//! never ends its search: nobody is woken any more.

use std::collections::VecDeque;
use std::sync::PoisonError;

use sync::{Mutex, MutexGuard};

/// Decides who sleeps, who searches, and whom to wake.
pub struct Sleepers {
    workers: usize,
    state: Mutex<State>,
}

struct State {
    /// Who has slept longest comes first, and is woken first.
    asleep: VecDeque<usize>,
    searching_count: usize,
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
            workers,
            state: Mutex::new(State {
                // None has said yet that it is up.
                asleep: (0..workers).collect(),
                searching_count: 0,
            }),
        }
    }

    /// Returns the worker to wake.
    pub fn notify(&self) -> Option<usize> {
        let mut state = self.lock();
        if state.searching_count > 0 {
            return None;
        }
        let worker = state.asleep.pop_front()?;
        state.searching_count = 1;
        Some(worker)
    }

    /// Returns `true` if the caller may search.
    pub fn try_search(&self) -> bool {
        let mut state = self.lock();
        let may_search = state.searching_count < self.workers.div_ceil(2);
        state.searching_count += usize::from(may_search);
        may_search
    }

    /// Returns `true` if the caller must notify.
    #[must_use]
    pub fn found(&self) -> bool {
        let mut state = self.lock();
        state.searching_count -= 1;
        state.searching_count == 0
    }

    /// Returns `true` if the caller must look once more.
    #[must_use]
    pub fn sleep(&self, worker: usize, searching: bool) -> bool {
        let mut state = self.lock();
        if !state.asleep.contains(&worker) {
            state.asleep.push_back(worker);
        }
        state.searching_count -= usize::from(searching);
        state.searching_count == 0
    }

    /// Returns `true` if nobody has woken this worker.
    pub fn wake(&self, worker: usize) -> bool {
        let mut state = self.lock();
        let place = state.asleep.iter().position(|it| *it == worker);
        place.and_then(|place| state.asleep.remove(place)).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/13-sleepers/src/tests.rs"]
mod tests;
