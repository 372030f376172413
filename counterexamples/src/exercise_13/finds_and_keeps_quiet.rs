//! Breaks clause 5: One leads to the next.
//! Caught by: the_last_that_finds_work_is_told
//! Also fails: who_was_named_need_not_ask
//! Also fails: who_finds_work_after_the_others_sleep_is_told
//! Also fails: who_is_named_counts_as_searching
//! Also fails: who_was_named_searches_when_it_is_up
//! Also fails: who_did_not_search_looks_if_nobody_does
//! Also fails: a_notify_and_who_gets_up_agree
//! Also fails: as_many_workers_come_as_there_are_jobs
//! Also fails: jobs_that_a_worker_pushes_reach_the_others
//! Also fails: thousands_of_jobs_find_a_worker
//! Also fails: half_of_256_may_search_while_the_others_sleep
//!
//! Whoever pushes notifies. So why should one notify who takes? Because the pushes
//! that came while it searched have woken nobody, and counted on it.

#[path = "../../../solutions/13-sleepers/src/counts.rs"]
mod counts;
#[path = "../../../solutions/13-sleepers/src/names.rs"]
mod names;
#[path = "../../../solutions/13-sleepers/src/notify.rs"]
mod notify;
#[path = "../../../solutions/13-sleepers/src/sleep.rs"]
mod sleep;
#[path = "../../../solutions/13-sleepers/src/sleepers.rs"]
mod sleepers;

pub use sleepers::Sleepers;

impl Sleepers {
    /// A busy worker has no work. Returns `true` if it may search.
    pub fn try_search(&self) -> bool {
        self.counts.begin_search(self.most_searchers)
    }

    /// A searcher has found work, and is busy. Returns `true` if it must call
    /// [`notify`](Self::notify), before it begins with the work.
    #[must_use]
    pub fn found(&self) -> bool {
        self.counts.end_search();
        false
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/13-sleepers/src/tests.rs"]
mod tests;
