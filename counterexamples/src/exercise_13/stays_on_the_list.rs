//! Breaks clause 7: Getting up.
//! Caught by: who_gets_up_by_itself_is_busy
//! Also fails: who_was_named_need_not_ask
//! Also fails: who_got_up_can_sleep_again
//! Also fails: a_notify_and_who_gets_up_agree
//! Also fails: as_many_workers_come_as_there_are_jobs
//! Also fails: jobs_that_a_worker_pushes_reach_the_others
//! Also fails: thousands_of_jobs_find_a_worker
//! Also fails: any_of_256_gets_up_by_itself
//!
//! One sleeper less is counted; that is what `notify` looks at first. Its name stays
//! where it is, to be overwritten by the next sleep. So the next notification may go
//! to a worker that is busy, and the one that sleeps does not hear of it.

#[expect(dead_code, reason = "this version does not take its steps back")]
#[path = "../../../solutions/13-sleepers/src/counts.rs"]
mod counts;
#[expect(dead_code, reason = "this version does not take its steps back")]
#[path = "../../../solutions/13-sleepers/src/names.rs"]
mod names;
#[path = "../../../solutions/13-sleepers/src/notify.rs"]
mod notify;
#[path = "../../../solutions/13-sleepers/src/search.rs"]
mod search;
#[path = "../../../solutions/13-sleepers/src/sleepers.rs"]
mod sleepers;

use sync::atomic::{Ordering::SeqCst, fence};

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
        let is_listed = self.names.contains(worker);
        if is_listed {
            self.counts.get_up();
        }
        is_listed
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/13-sleepers/src/tests.rs"]
mod tests;
