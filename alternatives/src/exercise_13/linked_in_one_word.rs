//! The count of those who search and the last one that fell asleep share a word;
//! behind each sleeper stands the one that fell asleep before it. To name one is
//! to take the first off. But who gets up cannot leave from the middle: it stays
//! and is marked, and whoever takes it off goes on to the next.
//!
//! Only one at a time takes off: it has counted one more searcher before, where
//! there was none. So no sleeper is taken off and put back while another looks at
//! its successor, and the word needs no version number.

use primitives::atomic::{AtomicU32, Ordering, fence};

use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

#[path = "../../../exercises/13-sleepers/src/activity.rs"]
mod activity;

pub use activity::Activity;

/// Above the first sleeper: how many search.
const SEARCHING: u32 = 1 << 16;
/// No sleeper.
const NOBODY: u32 = SEARCHING - 1;

/// Not in the list.
// --> ASLEEP (`transition_to_parked`)
const AWAKE: u32 = 0;
/// In the list, and asleep.
// --> UP (`transition_from_parked`), AWAKE (`notify`)
const ASLEEP: u32 = 1;
/// In the list, and up again.
// --> ASLEEP (`transition_to_parked`), AWAKE (`notify`)
const UP: u32 = 2;

struct Worker {
    state: AtomicU32,
    next: AtomicU32,
}

/// Decides who sleeps, who searches, and whom to wake.
pub struct Sleepers {
    word: AtomicU32,
    workers: Box<[Worker]>,
}

impl Sleepers {
    /// Makes the sleepers of so many workers.
    ///
    /// # Panics
    ///
    /// If there is no worker, or more than can be counted.
    pub fn new(workers: usize) -> Self {
        assert!(workers > 0, "there is no worker");
        assert!(workers < NOBODY as usize, "there are too many workers");
        let awake = || Worker {
            state: AtomicU32::new(AWAKE),
            next: AtomicU32::new(NOBODY),
        };
        Self {
            word: AtomicU32::new(NOBODY),
            workers: (0..workers).map(|_| awake()).collect(),
        }
    }

    /// Returns the worker to unpark.
    pub fn notify(&self) -> Option<usize> {
        // SeqCst: work first, then the word. Pairs with the fence in `transition_to_parked`, where the word comes first.
        fence(SeqCst);
        let begin = |word| (word < NOBODY).then_some(word + SEARCHING);
        // Relaxed, all: the fence before them orders them, and `take_first`
        // acquires what is listed.
        if self.word.load(Relaxed) >= NOBODY
            || self.word.fetch_update(Relaxed, Relaxed, begin).is_err()
        {
            return None;
        }
        while let Some(worker) = self.take_first() {
            // Release: pairs with the Acquire in `transition_from_parked`, for what came before,
            // and in `transition_to_parked`, since `next` has been read. Acquire: not needed,
            // but all changes of `state` are alike.
            let before = self.workers[worker].state.swap(AWAKE, AcqRel);
            if before == ASLEEP {
                return Some(worker);
            }
        }
        None
    }

    /// Takes the first off the list; if there is none, ends the search.
    fn take_first(&self) -> Option<usize> {
        let rest = |word| match word % SEARCHING {
            NOBODY => Some(word - SEARCHING),
            first => {
                // Relaxed: the Acquire of the word, below, has shown it.
                let next = self.workers[first as usize].next.load(Relaxed);
                Some(word - first + next)
            }
        };
        // Acquire, of the look before the exchange, too: pairs with the Release
        // in `transition_to_parked`; shows who is next. Release: not needed, since nothing was
        // written.
        let word = self.word.fetch_update(AcqRel, Acquire, rest);
        let first = word.expect("there is always a rest") % SEARCHING;
        (first != NOBODY).then_some(first as usize)
    }

    /// Returns `true` if the caller may search.
    pub fn transition_to_searching(&self) -> bool {
        let most = self.workers.len().div_ceil(2) as u32;
        let search =
            |word| (word / SEARCHING < most).then_some(word + SEARCHING);
        // Relaxed: a search that misses what comes just now is made good by the
        // one who ends the last search.
        self.word.fetch_update(Relaxed, Relaxed, search).is_ok()
    }

    /// Returns `true` if the caller must notify.
    #[must_use]
    pub fn transition_from_searching(&self) -> bool {
        // Release: what this one has moved is seen by the last look, behind its fence.
        self.word.fetch_sub(SEARCHING, Release) / SEARCHING == 1
    }

    /// Returns `true` if the caller must look once more.
    #[must_use]
    pub fn transition_to_parked(&self, worker: usize, was: Activity) -> bool {
        let Worker { state, next } = &self.workers[worker];
        // Acquire: pairs with the Release in `notify`; who took this worker off
        // has read `next`. Release: not needed, as there.
        let is_new = state.swap(ASLEEP, AcqRel) == AWAKE;
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
        // Acquire if it fails: pairs with the Release in `notify`; shows what
        // was done before this worker was named. AcqRel: not needed, as above;
        // `ASLEEP` was written by this worker itself.
        match state.compare_exchange(ASLEEP, UP, AcqRel, Acquire) {
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
