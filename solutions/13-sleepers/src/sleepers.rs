//! What all of it shares.

use super::counts::{Counts, MOST_WORKERS};
use super::names::Names;

/// Decides who of a scheduler's workers sleeps, who searches, and whom to wake.
/// What it promises is said above, in the documentation of the crate.
pub struct Sleepers {
    pub(super) counts: Counts,
    pub(super) names: Names,
    pub(super) most_searchers: u32,
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
            most_searchers: workers.div_ceil(2) as u32,
        }
    }
}
