//! Breaks clause 7: Getting up.
//! Caught by: models::a_worker_that_gets_up_and_a_notify_agree_in_every_order
//! Also fails: models::a_worker_that_gets_up_leaves_one_that_falls_asleep_listed
//! Also fails: models::a_worker_that_sleeps_for_a_moment_and_a_notify_agree
//!
//! It is listed, so nobody has named it, so it takes itself off. Between the first and
//! the last of these somebody does name it: then it is busy for the one, and searches
//! for the other, who is content and wakes nobody else.

#[expect(dead_code, reason = "this version does not take its steps back")]
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
            self.names.take(worker);
        }
        is_listed
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/13-sleepers/src/models.rs"]
mod models;
