//! Breaks clause 1: Exactly once.
//! Caught by: models::an_old_look_at_the_positions_takes_nothing
//! Also fails: models::two_that_steal_from_each_other_share_in_every_order
//! Also fails: models::a_steal_into_a_queue_that_is_stolen_from_writes_over_nothing
//! Also fails: models::a_stolen_item_can_be_stolen_on
//! Also fails: models::an_overflow_during_a_steal_loses_nothing
//! Also fails: models::an_overflow_meets_two_steals
//! Also fails: models::nothing_is_written_over_while_a_thief_copies
//! Also fails: models::what_stays_is_seen_by_who_steals_it
//! Also fails: models::an_overflow_meets_the_steals_of_two_threads
//!
//! The difference is taken without a sign, and cut to what fits a thief. If the
//! thief has read an older tail than the head it is four thousand million, cut
//! to a number that looks right.

use claim::{Claim, Held};
use ring::Ring;

pub use handles::{Local, Stealer, run_queue, run_queue_at};

/// Who has taken how much: two numbers in one word, so that one
/// compare-and-swap changes both.
///
/// ```text
///         held          waiting             free
///     ├──────────┼─────────────────────┼───────────────┤
///  start        next                  tail        start + N
/// ```
///
/// A position counts items, not slots: it goes on beyond `N`, and from
/// `u32::MAX` to 0. (An item that stays at an overflow gets a second one.) So `tail - next` is 0 when nothing waits and `N` when the
/// ring is full; two indices below `N` could not tell these apart.
#[derive(Clone, Copy)]
pub struct Head {
    /// The position of the next item to be taken.
    pub next: u32,
    /// How many slots before `next` may still be read.
    pub held: u32,
}

impl Head {
    /// The bits of `next`. To keep only these is to hold nothing any more.
    pub const NEXT: u64 = u32::MAX as u64;

    /// Takes the two numbers out of the word.
    #[inline]
    pub fn unpack(word: u64) -> Self {
        Self {
            next: (word & Self::NEXT) as u32,
            held: (word >> u32::BITS) as u32,
        }
    }

    /// Puts the two numbers into one word.
    #[inline]
    pub fn pack(self) -> u64 {
        u64::from(self.held) << u32::BITS | u64::from(self.next)
    }

    /// The position of the oldest slot that may not be written.
    #[inline]
    pub fn start(self) -> u32 {
        self.next.wrapping_sub(self.held)
    }

    /// How many items wait before `tail`.
    #[inline]
    pub fn waiting(self, tail: u32) -> u32 {
        tail.wrapping_sub(self.next)
    }

    /// The same, after the owner has taken an item. What is behind held slots
    /// cannot be freed before they are, so it is held with them.
    #[inline]
    pub fn popped(self) -> Self {
        Self {
            next: self.next.wrapping_add(1),
            held: self.held + u32::from(self.held != 0),
        }
    }

    /// The same, after somebody has claimed so many items.
    #[inline]
    pub fn claimed(self, count: u32) -> Self {
        Self {
            next: self.next.wrapping_add(count),
            held: count,
        }
    }
}

// The other parts are those of the solution.
#[path = "../../../solutions/11-run-queue/src/claim.rs"]
mod claim;
#[path = "../../../solutions/11-run-queue/src/handles.rs"]
mod handles;
#[path = "../../../solutions/11-run-queue/src/overflow.rs"]
mod overflow;
#[path = "../../../solutions/11-run-queue/src/ring.rs"]
mod ring;

// No tests: on real threads it is a matter of luck whether any of them fails.
#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/11-run-queue/src/models.rs"]
mod models;
