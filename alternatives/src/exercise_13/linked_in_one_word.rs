//! The number of searchers and the last worker that parked share a word; each sleeper is linked to
//! the worker that parked before it. Choosing a worker takes the first off. However, a worker that
//! wakes up can't leave from the middle: it stays and is marked, and the thread that takes it off
//! goes on to the next.
//!
//! Only one thread at a time takes workers off: before that, it has counted one more searcher,
//! where there was none. So no sleeper is taken off and put back while another thread looks at its
//! successor, and the word needs no version number.

use primitives::atomic::{AtomicU32, Ordering, fence};

use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

#[path = "../../../exercises/13-sleepers/src/activity.rs"]
mod activity;

pub use activity::Activity;

/// Above the first sleeper: how many search.
const SEARCHING: u32 = 1 << 16;
/// No sleeper.
const NO_WORKER: u32 = SEARCHING - 1;

/// Not in the list.
// --> PARKED (`transition_to_parked`)
const AWAKE: u32 = 0;
/// In the list, and parked.
// --> STALE (`transition_from_parked`), AWAKE (`notify`)
const PARKED: u32 = 1;
/// In the list, and awake again.
// --> PARKED (`transition_to_parked`), AWAKE (`notify`)
const STALE: u32 = 2;

struct Worker {
    state: AtomicU32,
    next: AtomicU32,
}

/// Knows which workers are parked and which search, and decides which one to wake.
pub struct Sleepers {
    word: AtomicU32,
    workers: Box<[Worker]>,
}

impl Sleepers {
    /// Makes the sleepers of `workers` workers.
    ///
    /// # Panics
    ///
    /// If there is no worker, or more than can be counted.
    pub fn new(workers: usize) -> Self {
        assert!(workers > 0, "there is no worker");
        assert!(workers < NO_WORKER as usize, "there are too many workers");
        let awake = || Worker {
            state: AtomicU32::new(AWAKE),
            next: AtomicU32::new(NO_WORKER),
        };
        Self {
            word: AtomicU32::new(NO_WORKER),
            workers: (0..workers).map(|_| awake()).collect(),
        }
    }

    /// Returns the worker to unpark.
    pub fn notify(&self) -> Option<usize> {
        // SeqCst: the work first, then the word. Pairs with the fence in `transition_to_parked`,
        // where the word comes first.
        fence(SeqCst);
        let begin = |word| (word < NO_WORKER).then_some(word + SEARCHING);
        // Relaxed, all: the fence before them orders them, and `take_first`
        // acquires what is listed.
        if self.word.load(Relaxed) >= NO_WORKER
            || self.word.fetch_update(Relaxed, Relaxed, begin).is_err()
        {
            return None;
        }
        while let Some(worker) = self.take_first() {
            // Release: pairs with the Acquire in `transition_from_parked`, for what came before,
            // and in `transition_to_parked`, since `next` has been read. Acquire: not needed,
            // but all changes of `state` are alike.
            let before = self.workers[worker].state.swap(AWAKE, AcqRel);
            if before == PARKED {
                return Some(worker);
            }
        }
        None
    }

    /// Takes the first off the list; if there is none, ends the search.
    fn take_first(&self) -> Option<usize> {
        let rest = |word| match word % SEARCHING {
            NO_WORKER => Some(word - SEARCHING),
            first => {
                // Relaxed: the Acquire of the word, below, has shown it.
                let next = self.workers[first as usize].next.load(Relaxed);
                Some(word - first + next)
            }
        };
        // Acquire, also for the load before the compare-exchange: pairs with the Release in
        // `transition_to_parked`; shows which one is next. Release: not needed, since nothing was
        // written.
        let word = self.word.fetch_update(AcqRel, Acquire, rest);
        let first = word.expect("there is always a rest") % SEARCHING;
        (first != NO_WORKER).then_some(first as usize)
    }

    /// Returns `true` if the caller may search.
    pub fn transition_to_searching(&self) -> bool {
        let most = self.workers.len().div_ceil(2) as u32;
        let search =
            |word| (word / SEARCHING < most).then_some(word + SEARCHING);
        // Relaxed: if a search misses what comes just now, the worker that ends the last search
        // makes up for it.
        self.word.fetch_update(Relaxed, Relaxed, search).is_ok()
    }

    /// Returns `true` if the caller must notify.
    #[must_use]
    pub fn transition_from_searching(&self) -> bool {
        // Release: the last look, behind its fence, sees what this worker has moved.
        self.word.fetch_sub(SEARCHING, Release) / SEARCHING == 1
    }

    /// Returns `true` if the caller must look again.
    #[must_use]
    pub fn transition_to_parked(&self, worker: usize, was: Activity) -> bool {
        let Worker { state, next } = &self.workers[worker];
        // Acquire: pairs with the Release in `notify`; the thread that took this worker off has
        // read `next`. Release: not needed, as there.
        let is_new = state.swap(PARKED, AcqRel) == AWAKE;
        let less = match was {
            Activity::Busy => 0,
            Activity::Searching => SEARCHING,
        };
        let push = |word| {
            let mut first = word % SEARCHING;
            if is_new {
                // Relaxed: the Release of the word, below, publishes it.
                next.store(first, Relaxed);
                first = worker as u32;
            }
            Some(word - word % SEARCHING - less + first)
        };
        // Release: pairs with the Acquire in `take_first`; publishes `next`.
        // Acquire: pairs with the Release in `transition_from_searching`, as the fence does.
        // Relaxed for the guess: `first` is only compared and linked to.
        let word = self.word.fetch_update(AcqRel, Relaxed, push);
        // SeqCst: pairs with the fence in `notify`.
        fence(SeqCst);
        (word.expect("`push` has no condition") - less) / SEARCHING == 0
    }

    /// Returns what this worker does from now on.
    #[must_use]
    pub fn transition_from_parked(&self, worker: usize) -> Activity {
        let state = &self.workers[worker].state;
        // Acquire if it fails: pairs with the Release in `notify`; shows what was done before this
        // worker was chosen. AcqRel: not needed, as above; this worker itself wrote `PARKED`.
        match state.compare_exchange(PARKED, STALE, AcqRel, Acquire) {
            Ok(_) => Activity::Busy,
            Err(_) => Activity::Searching,
        }
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/13-sleepers/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/13-sleepers/src/tests/mod.rs"]
mod tests;
