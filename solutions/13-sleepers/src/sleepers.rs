//! The decisions: each changes the counts, the set of sleepers, or both.

use primitives::atomic::{Ordering::SeqCst, fence};
use primitives::{hint, thread};

use super::Activity;
use super::counts::{Counts, MOST_WORKERS};
use super::sleeper_set::SleeperSet;

/// Knows which of a scheduler's workers are parked and which search, and
/// decides which one to wake. Its contract is above, in the documentation of the
/// crate.
pub struct Sleepers {
    counts: Counts,
    set: SleeperSet,
    most_searchers: u32,
}

impl Sleepers {
    /// Makes the sleepers of `workers` workers, numbered from 0.
    ///
    /// # Panics
    ///
    /// If there is no worker, or if there are too many to be counted: 65,536.
    pub fn new(workers: usize) -> Self {
        assert!(
            (1..=MOST_WORKERS).contains(&workers),
            "`{workers}` workers can't be counted"
        );
        Self {
            counts: Counts::new(),
            set: SleeperSet::new(workers),
            most_searchers: workers.div_ceil(2) as u32,
        }
    }

    // ANCHOR: notify
    /// To be called after work was published. Returns the worker to unpark.
    #[inline]
    pub fn notify(&self) -> Option<usize> {
        // SeqCst: pairs with the fence in `transition_to_parked`, and with the
        // one (perhaps this one) after another's `transition_from_searching`.
        // Here the work comes first, then the counts; there the counts come
        // first, then the queues: one of the two sees what the other wrote.
        // Models: `a_push_and_a_worker_that_sleeps_do_not_miss_each_other`,
        // `a_searcher_that_looks_as_the_search_ends_sees_what_comes`.
        fence(SeqCst);
        if self.counts.should_notify() {
            self.choose()
        } else {
            None
        }
    }
    // ANCHOR_END: notify

    #[cold]
    fn choose(&self) -> Option<usize> {
        if !self.counts.choose_sleeper() {
            return None;
        }
        // One of the listed workers is ours. However, it may be listed behind
        // our back, in a place where we have already looked.
        loop {
            match self.set.take_any() {
                Some(worker) => return Some(worker),
                None => hint::spin_loop(),
            }
        }
    }

    /// A busy worker has no work. Returns `true` if it may search.
    pub fn transition_to_searching(&self) -> bool {
        self.counts.begin_search(self.most_searchers)
    }

    /// A searcher has found work, and is busy. Returns `true` if no worker
    /// searches now: the caller must call [`notify`](Self::notify) before it
    /// starts on the work, or look (clause 5).
    #[must_use]
    pub fn transition_from_searching(&self) -> bool {
        self.counts.end_search()
    }

    // ANCHOR: to_parked
    /// A worker is parked from now on. Returns `true` if no worker searches
    /// now: the caller must look at all queues again before its thread parks.
    #[must_use]
    pub fn transition_to_parked(&self, worker: usize, was: Activity) -> bool {
        self.set.insert(worker);
        let is_last = self.counts.add_sleeper(was);
        // SeqCst: pairs with the fence in `notify`, see there.
        // Model: `a_push_and_a_worker_that_sleeps_do_not_miss_each_other`.
        fence(SeqCst);
        is_last
    }
    // ANCHOR_END: to_parked

    // ANCHOR: from_parked
    /// A parked worker goes on, for any reason. Returns what it does from
    /// now on.
    #[must_use]
    pub fn transition_from_parked(&self, worker: usize) -> Activity {
        while self.set.contains(worker) {
            if self.counts.try_remove_sleeper() {
                let is_own = self.set.take(worker);
                if is_own {
                    return Activity::Busy;
                }
                // It was chosen between the two steps, so another worker that
                // is parked has to be counted again.
                self.counts.restore_sleeper();
                return Activity::Searching;
            }
            // All listed workers are chosen, and a `notify` is about to say
            // which. It needs one more step.
            thread::yield_now();
        }
        Activity::Searching
    }
    // ANCHOR_END: from_parked
}
