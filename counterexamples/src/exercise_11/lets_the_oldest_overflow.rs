//! Breaks clause 7: Overflow.
//! Caught by: the_older_half_stays
//!
//! The owner claims its oldest items, as a thief does: one exchange, and no
//! second way of doing it. So it was in tokio until 2026. But what a worker has
//! fetched from the queue of all is soon the oldest that it has. If a task of
//! its own spawns many others then, it goes back unpolled, to the end; with bad
//! luck again and again.

use claim::Claim;
use head::Head;
use ring::Ring;

pub use handles::{Local, Stealer, run_queue, run_queue_at};

impl<'a, T, const N: usize> Claim<'a, T, N> {
    /// Claims half of a full ring.
    ///
    /// # Safety
    ///
    /// None needed: a thief may do so, too.
    pub unsafe fn claim_newest_half(ring: &'a Ring<T, N>) -> Option<Self> {
        Self::new(ring, N)
    }
}

// The other parts are those of the solution.
#[path = "../../../solutions/11-run-queue/src/claim.rs"]
mod claim;
#[path = "../../../solutions/11-run-queue/src/handles.rs"]
mod handles;
#[path = "../../../solutions/11-run-queue/src/head.rs"]
mod head;
#[path = "../../../solutions/11-run-queue/src/ring.rs"]
mod ring;

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/11-run-queue/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/11-run-queue/src/tests/mod.rs"]
mod tests;
