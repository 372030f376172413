//! Breaks clause 6: The last look.
//! Caught by: who_did_not_search_looks_if_nobody_does
//! Also fails: as_many_workers_come_as_there_are_jobs
//! Also fails: jobs_that_a_worker_pushes_reach_the_others
//! Also fails: thousands_of_jobs_find_a_worker
//!
//! A worker that was not let in has looked at no other queue, and leaves that to those
//! who search. But by now they may have found something. When they did, this worker
//! did not sleep yet, so they could not wake it for what was left.

#[path = "../../../solutions/13-sleepers/src/counts.rs"]
mod counts;
#[path = "../../../solutions/13-sleepers/src/names.rs"]
mod names;
#[path = "../../../solutions/13-sleepers/src/notify.rs"]
mod notify;
#[path = "../../../solutions/13-sleepers/src/search.rs"]
mod search;
#[path = "../../../solutions/13-sleepers/src/sleepers.rs"]
mod sleepers;

use sync::atomic::{Ordering::SeqCst, fence};
use sync::thread;

pub use sleepers::Sleepers;

impl Sleepers {
    /// A worker sleeps from now on. Returns `true` if it must look at all
    /// queues once more before it parks.
    #[must_use]
    pub fn sleep(&self, worker: usize, searching: bool) -> bool {
        self.names.insert(worker);
        let is_none_left = self.counts.fall_asleep(searching);
        fence(SeqCst);
        searching && is_none_left
    }

    /// A worker that slept is up. Returns `true` if nobody has woken it and it is
    /// busy, `false` if it searches.
    pub fn wake(&self, worker: usize) -> bool {
        while self.names.contains(worker) {
            if self.counts.get_up() {
                let is_own = self.names.take(worker);
                if !is_own {
                    self.counts.lie_down();
                }
                return is_own;
            }
            thread::yield_now();
        }
        false
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/13-sleepers/src/tests.rs"]
mod tests;
