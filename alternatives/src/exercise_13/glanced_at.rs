//! Everything under one lock, and beside it a flag that says whether taking the lock is worthwhile.
//! So `notify` costs a fence and a load when there is nothing to do.

use std::mem;
use std::sync::PoisonError;

use primitives::atomic::{AtomicBool, Ordering, fence};
use primitives::{Mutex, MutexGuard};

use Ordering::{AcqRel, Relaxed, SeqCst};

#[path = "../../../exercises/13-sleepers/src/activity.rs"]
mod activity;

pub use activity::Activity;

/// What a worker does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Worker {
    /// It is awake, and knows by itself whether it searches.
    Up,
    Parked,
}

/// Knows which workers are parked and which search, and decides which one to wake.
pub struct Sleepers {
    /// A worker is parked and none searches. Changed only by the thread that has the lock.
    is_one_wanted: AtomicBool,
    state: Mutex<State>,
}

struct State {
    workers: Box<[Worker]>,
    searching_count: usize,
}

impl State {
    fn first_parked(&self) -> Option<usize> {
        self.workers.iter().position(|it| *it == Worker::Parked)
    }
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
            is_one_wanted: AtomicBool::new(false),
            state: Mutex::new(State {
                workers: vec![Worker::Up; workers].into(),
                searching_count: 0,
            }),
        }
    }

    /// Returns the worker to unpark.
    pub fn notify(&self) -> Option<usize> {
        // SeqCst: pairs with the fence in `change`: here the work first, then the flag; there the
        // flag first, then the queues.
        fence(SeqCst);
        // Relaxed: the fence orders it.
        if !self.is_one_wanted.load(Relaxed) {
            return None;
        }
        self.change(|state| {
            if state.searching_count > 0 {
                return None;
            }
            let worker = state.first_parked()?;
            state.workers[worker] = Worker::Up;
            state.searching_count = 1;
            Some(worker)
        })
    }

    /// Returns `true` if the caller may search.
    pub fn transition_to_searching(&self) -> bool {
        self.change(|state| {
            let most = state.workers.len().div_ceil(2);
            let may_search = state.searching_count < most;
            state.searching_count += usize::from(may_search);
            may_search
        })
    }

    /// Returns `true` if the caller must notify.
    #[must_use]
    pub fn transition_from_searching(&self) -> bool {
        self.change(|state| {
            state.searching_count -= 1;
            state.searching_count == 0
        })
    }

    /// Returns `true` if the caller must look again.
    #[must_use]
    pub fn transition_to_parked(&self, worker: usize, was: Activity) -> bool {
        self.change(|state| {
            state.workers[worker] = Worker::Parked;
            state.searching_count -= usize::from(was == Activity::Searching);
            state.searching_count == 0
        })
    }

    /// Returns what this worker does from now on.
    #[must_use]
    pub fn transition_from_parked(&self, worker: usize) -> Activity {
        self.change(|state| {
            match mem::replace(&mut state.workers[worker], Worker::Up) {
                Worker::Parked => Activity::Busy,
                Worker::Up => Activity::Searching,
            }
        })
    }

    /// Changes the state, and then the flag, before any other thread can.
    fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.lock();
        let result = change(&mut state);
        let is_one_wanted =
            state.searching_count == 0 && state.first_parked().is_some();
        // A swap, so that in loom, too, a later change comes later. AcqRel: not
        // needed under the lock.
        self.is_one_wanted.swap(is_one_wanted, AcqRel);
        drop(state);
        // SeqCst: pairs with the fence in `notify`.
        fence(SeqCst);
        result
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
