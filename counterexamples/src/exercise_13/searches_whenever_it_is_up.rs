//! Breaks clause 7: Getting up.
//! Caught by: who_gets_up_by_itself_is_busy
//! Also fails: who_was_named_need_not_ask
//! Also fails: who_got_up_can_sleep_again
//! Also fails: who_did_not_search_looks_if_nobody_does
//! Also fails: a_notify_and_who_gets_up_agree
//! Also fails: as_many_workers_come_as_there_are_jobs
//! Also fails: jobs_that_a_worker_pushes_reach_the_others
//! Also fails: thousands_of_jobs_find_a_worker
//! Also fails: a_notify_that_names_none_leaves_no_searcher
//! Also fails: any_of_256_gets_up_by_itself
//!
//! Whoever is up will look around for work, so it is counted as a searcher. The caller
//! was told `true`, and takes it for busy: it was a timer. It never ends a search that
//! it did not begin, and as long as one searches nobody is woken.

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
        is_none_left
    }

    /// A worker that slept is up. Returns `true` if nobody has woken it and it is
    /// busy, `false` if it searches.
    pub fn wake(&self, worker: usize) -> bool {
        while self.names.contains(worker) {
            if self.counts.get_up() {
                let is_own = self.names.take(worker);
                if is_own {
                    self.counts.begin_search(u32::MAX);
                } else {
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
