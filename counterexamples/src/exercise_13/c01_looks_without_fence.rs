//! Breaks clause 1: No task waits.
//! Caught by: models::a_push_and_a_worker_that_sleeps_do_not_miss_each_other
//! Also fails: models::a_push_and_a_worker_that_sleeps_again_do_not_miss_each_other
//! Also fails: models::a_job_is_done_in_every_order
//! Also fails: models::a_push_and_the_last_searcher_do_not_miss_each_other
//! Also fails: models::a_searcher_that_sleeps_as_the_search_ends_sees_what_comes
//! Also fails: models::a_worker_that_sleeps_as_the_search_ends_sees_what_comes
//! Also fails: models::work_that_comes_as_the_search_ends_wakes_the_next
//!
//! The counts are atomic, so a load gives what is there. But the push before it may
//! still be in this processor's store buffer: the worker does not see the task, and
//! this load came too early to see that the worker sleeps.

#[path = "../../../solutions/13-sleepers/src/counts.rs"]
mod counts;
#[path = "../../../solutions/13-sleepers/src/names.rs"]
mod names;
#[path = "../../../solutions/13-sleepers/src/search.rs"]
mod search;
#[path = "../../../solutions/13-sleepers/src/sleep.rs"]
mod sleep;
#[path = "../../../solutions/13-sleepers/src/sleepers.rs"]
mod sleepers;

use sync::hint;

pub use sleepers::Sleepers;

impl Sleepers {
    /// To be called after work was published. Returns the worker to wake.
    // ANCHOR: bug
    #[inline]
    pub fn notify(&self) -> Option<usize> {
        if self.counts.should_wake_one() {
            self.choose()
        } else {
            None
        }
    }
    // ANCHOR_END: bug

    #[cold]
    fn choose(&self) -> Option<usize> {
        if !self.counts.choose_one() {
            return None;
        }
        loop {
            match self.names.take_any() {
                Some(worker) => return Some(worker),
                None => hint::spin_loop(),
            }
        }
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/13-sleepers/src/models.rs"]
mod models;
