//! Breaks clause 1: Exactly once.
//! Caught by: models::owner_and_thief_share_the_items_in_every_order
//! Also fails: models::two_that_steal_from_each_other_share_in_every_order
//! Also fails: counts_hold_while_thieves_are_at_work
//! Also fails: each_item_comes_out_once_where_all_steal_from_all
//! Also fails: each_item_comes_out_once_whoever_takes_it
//! Also fails: models::a_steal_into_a_queue_that_is_stolen_from_writes_over_nothing
//! Also fails: models::a_stolen_item_can_be_stolen_on
//! Also fails: models::an_old_look_at_the_positions_takes_nothing
//! Also fails: models::an_overflow_during_a_steal_loses_nothing
//! Also fails: models::an_overflow_meets_two_steals
//! Also fails: models::nothing_is_written_over_while_a_thief_copies
//! Also fails: models::two_thieves_and_the_owner_share_in_every_order
//! Also fails: models::what_stays_is_seen_by_who_steals_it
//! Also fails: models::an_overflow_meets_the_steals_of_two_threads
//!
//! The thief stores the head that it has worked out: it has just looked, and
//! what can happen within two lines? The owner's pop, whose item then comes out
//! twice.

use sync::atomic::Ordering;

use Ordering::{Acquire, Relaxed, Release};

use head::Head;
use ring::Ring;

pub use handles::{Local, Stealer, run_queue, run_queue_at};

/// Items of a ring, claimed and not yet all read. An iterator of
/// them; what it has not given out when it is dropped, it drops.
pub struct Claim<'a, T, const N: usize> {
    next: u32,
    end: u32,
    held: Held<'a, T, N>,
}

impl<'a, T, const N: usize> Claim<'a, T, N> {
    /// Claims half of the items that wait, rounded up, but at most `most`.
    /// `None` if that is nothing, or if somebody else has a claim.
    pub fn new(ring: &'a Ring<T, N>, most: usize) -> Option<Self> {
        // Relaxed: if it is old, the exchange fails.
        let word = ring.head.load(Relaxed);
        let head = Head::unpack(word);
        // Thieves take turns: two that end in either order would need to free
        // the slots in one.
        if head.held != 0 {
            return None;
        }
        // Acquire: pairs with the Release in `push`; the items before `tail`
        // are in their slots.
        let tail = ring.tail.load(Acquire);
        let count = head.waiting(tail).div_ceil(2).min(most as u32);
        if count == 0 {
            return None;
        }
        let after = head.claimed(count).pack();
        // Release: pairs with the Acquire in `Ring::count`.
        ring.head.store(after, Release);
        Some(Self {
            next: head.next,
            end: head.next.wrapping_add(count),
            held: Held { ring },
        })
    }
}

impl<T, const N: usize> Iterator for Claim<'_, T, N> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.next == self.end {
            return None;
        }
        let position = self.next;
        self.next = position.wrapping_add(1);
        // SAFETY: the item is claimed, and `next` has moved past it.
        Some(unsafe { self.held.ring.read(position) })
    }
}

impl<T, const N: usize> Drop for Claim<'_, T, N> {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}

/// Gives the held slots back, also if the destructor of an item panics.
struct Held<'a, T, const N: usize> {
    ring: &'a Ring<T, N>,
}

impl<T, const N: usize> Drop for Held<'_, T, N> {
    #[inline]
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `push`; the slots have been read.
        // One instruction without a loop, whatever the owner has popped behind
        // us: that is given back, too.
        self.ring.head.fetch_and(Head::NEXT, Release);
    }
}

// The other parts are those of the solution.
#[path = "../../../solutions/11-run-queue/src/handles.rs"]
mod handles;
#[path = "../../../solutions/11-run-queue/src/head.rs"]
mod head;
#[path = "../../../solutions/11-run-queue/src/overflow.rs"]
mod overflow;
#[path = "../../../solutions/11-run-queue/src/ring.rs"]
mod ring;

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/11-run-queue/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/11-run-queue/src/tests/mod.rs"]
mod tests;
