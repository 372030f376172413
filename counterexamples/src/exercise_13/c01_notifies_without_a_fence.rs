//! Breaks clause 1: No task waits.
//! Caught by: models::a_push_and_a_worker_that_sleeps_do_not_miss_each_other
//! Order: a failure after an old value
//! Also fails: models::a_push_and_a_worker_that_sleeps_again_do_not_miss_each_other
//! Also fails: models::a_job_is_done_in_every_order
//! Also fails: models::a_push_and_the_last_searcher_do_not_miss_each_other
//! Also fails: models::a_searcher_that_looks_as_the_search_ends_sees_what_comes
//! Also fails: models::a_searcher_that_sleeps_as_the_search_ends_sees_what_comes
//! Also fails: models::a_worker_that_sleeps_as_the_search_ends_sees_what_comes
//! Also fails: models::work_that_comes_as_the_search_ends_wakes_the_next
//!
//! The counts are atomic, so a load returns their current value. However, the push before it may
//! still be in this processor's store buffer: the worker doesn't see the task, and this load comes
//! too early to see that the worker is parked.

#[path = "../../../exercises/13-sleepers/src/activity.rs"]
mod activity;
#[path = "../../../solutions/13-sleepers/src/counts.rs"]
mod counts;
#[path = "../../../solutions/13-sleepers/src/sleeper_set.rs"]
mod sleeper_set;

use primitives::atomic::{Ordering::SeqCst, fence};
use primitives::{hint, thread};

use counts::{Counts, MOST_WORKERS};
use sleeper_set::SleeperSet;

pub use activity::Activity;

/// Knows which of a scheduler's workers are parked and which search, and decides which one to
/// wake. Its contract is above, in the documentation of the crate.
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

    // ANCHOR: bug
    /// To be called after work was published. Returns the worker to unpark.
    #[inline]
    pub fn notify(&self) -> Option<usize> {
        // ANCHOR: guilty
        if self.counts.should_notify() {
        // ANCHOR_END: guilty
            self.choose()
        } else {
            None
        }
    }
    // ANCHOR_END: bug

    #[cold]
    fn choose(&self) -> Option<usize> {
        if !self.counts.choose_sleeper() {
            return None;
        }
        // One of the listed workers is ours. However, it may be listed behind our back, in a place
        // where we have already looked.
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

    /// A searcher has found work, and is busy. Returns `true` if no worker searches now: the caller
    /// must call [`notify`](Self::notify) before it starts on the work.
    #[must_use]
    pub fn transition_from_searching(&self) -> bool {
        self.counts.end_search()
    }

    /// A worker is parked from now on. Returns `true` if no worker searches now: the caller must
    /// look at all queues again before its thread parks.
    #[must_use]
    pub fn transition_to_parked(&self, worker: usize, was: Activity) -> bool {
        self.set.insert(worker);
        let is_last = self.counts.add_sleeper(was);
        // SeqCst: pairs with the fence in `notify`, see there.
        // Model: `a_push_and_a_worker_that_sleeps_do_not_miss_each_other`.
        fence(SeqCst);
        is_last
    }

    /// A parked worker goes on, for any reason. Returns what it does from now on.
    #[must_use]
    pub fn transition_from_parked(&self, worker: usize) -> Activity {
        while self.set.contains(worker) {
            if self.counts.try_remove_sleeper() {
                let is_own = self.set.take(worker);
                if is_own {
                    return Activity::Busy;
                }
                // It was chosen between the two steps, so another parked worker has to be
                // counted again.
                self.counts.restore_sleeper();
                return Activity::Searching;
            }
            // All listed workers are chosen, and a `notify` is about to say which. It needs one
            // more step.
            thread::yield_now();
        }
        Activity::Searching
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/13-sleepers/src/models.rs"]
mod models;
