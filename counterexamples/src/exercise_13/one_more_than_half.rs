//! Breaks clause 4: Half.
//! Caught by: at_most_half_search
//! Also fails: the_one_that_was_named_is_of_the_half
//! Also fails: several_threads_keep_to_the_half
//! Also fails: half_of_256_may_search_while_the_others_sleep
//!
//! The limit is a count of those who search already, so one more comes in on top. Or
//! so it was meant: "unless more than half do".

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
        self.counts.begin_search(self.most_searchers + 1)
    }

    /// A searcher has found work, and is busy. Returns `true` if it must call
    /// [`notify`](Self::notify), before it begins with the work.
    #[must_use]
    pub fn found(&self) -> bool {
        self.counts.end_search()
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/13-sleepers/src/tests.rs"]
mod tests;
