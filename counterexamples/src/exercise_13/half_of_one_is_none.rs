//! Breaks clause 4: Half.
//! Caught by: one_may_search_if_none_does
//!
//! At most half of the workers, rounded down. Half of one is none: with one worker
//! nobody ever steals, and whoever has pushed into a queue that is no worker's waits.

#[path = "../../../solutions/13-sleepers/src/counts.rs"]
mod counts;
#[path = "../../../solutions/13-sleepers/src/names.rs"]
mod names;
#[path = "../../../solutions/13-sleepers/src/notify.rs"]
mod notify;
#[path = "../../../solutions/13-sleepers/src/search.rs"]
mod search;
#[path = "../../../solutions/13-sleepers/src/sleep.rs"]
mod sleep;

use counts::{Counts, MOST_WORKERS};
use names::Names;

/// Decides who of a scheduler's workers sleeps, who searches, and whom to wake.
pub struct Sleepers {
    counts: Counts,
    names: Names,
    most_searchers: u32,
}

impl Sleepers {
    /// Makes the sleepers of so many workers, numbered from 0 on.
    ///
    /// # Panics
    ///
    /// If there is no worker, or if there are too many to be counted: 65,536.
    pub fn new(workers: usize) -> Self {
        assert!(
            (1..=MOST_WORKERS).contains(&workers),
            "`{workers}` workers cannot be counted"
        );
        Self {
            counts: Counts::new(),
            names: Names::new(workers),
            most_searchers: workers as u32 / 2,
        }
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/13-sleepers/src/tests.rs"]
mod tests;
