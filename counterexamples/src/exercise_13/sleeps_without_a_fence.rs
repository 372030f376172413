//! Breaks clause 1: No task waits.
//! Caught by: models::a_push_and_a_worker_that_sleeps_do_not_miss_each_other
//! Also fails: models::a_push_and_a_worker_that_sleeps_again_do_not_miss_each_other
//! Also fails: models::a_job_is_done_in_every_order
//! Also fails: models::a_push_and_the_last_searcher_do_not_miss_each_other
//! Also fails: models::a_searcher_that_sleeps_as_the_search_ends_sees_what_comes
//! Also fails: models::a_worker_that_sleeps_as_the_search_ends_sees_what_comes
//! Also fails: models::the_last_look_sees_what_another_searcher_has_moved
//! Also fails: models::work_that_comes_as_the_search_ends_wakes_the_next
//!
//! The notifier has a fence, and a read-modify-write sees the newest value anyway. It
//! does; but nothing keeps the look at the queues behind it. On x86 the processor
//! happens to, so there no test will ever fail.

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

use sync::thread;

pub use sleepers::Sleepers;

impl Sleepers {
    /// A worker sleeps from now on. Returns `true` if it must look at all
    /// queues once more before it parks.
    #[must_use]
    pub fn sleep(&self, worker: usize, searching: bool) -> bool {
        self.names.insert(worker);
        self.counts.fall_asleep(searching)
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

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/13-sleepers/src/models.rs"]
mod models;
