//! Breaks clause 7: Overflow.
//! Caught by: models::an_overflow_meets_two_steals
//! Also fails: each_item_comes_out_once_where_all_steal_from_all
//! Also fails: each_item_comes_out_once_whoever_takes_it
//! Also fails: models::an_overflow_during_a_steal_loses_nothing
//! Also fails: models::an_overflow_meets_the_steals_of_two_threads
//! Also fails: models::a_queue_that_overflows_does_not_seem_empty_after_a_steal
//!
//! The youngest items are at the end where only the owner works: it moves its
//! tail back, by a store, and takes them. A thief that comes now claims half of
//! a full ring at most, from the other end. But two may have come, one after
//! the other, and the second one had seen the tail before: a half and a quarter
//! are more than a half.

use sync::atomic::Ordering;

use claim::Claim;
use head::Head;
use ring::Ring;

use Ordering::{Acquire, Relaxed, Release};

pub use handles::{Local, Stealer, run_queue, run_queue_at};

impl<T, const N: usize> Claim<'_, T, N> {
    /// Takes the younger half of a full ring, if nobody has a claim.
    ///
    /// # Safety
    ///
    /// The caller must be the owner.
    pub unsafe fn claim_newest_half(
        ring: &Ring<T, N>,
    ) -> Option<impl Iterator<Item = T>> {
        let capacity = Ring::<T, N>::CAPACITY;
        // Relaxed: the owner's own.
        let tail = ring.tail.load(Relaxed);
        // Acquire: as in `push`.
        let head = Head::unpack(ring.head.load(Acquire));
        if head.held != 0 || head.waiting(tail) < capacity {
            return None;
        }
        let middle = tail.wrapping_sub(capacity / 2);
        // Release: as in `push`.
        ring.tail.store(middle, Release);
        let mut next = middle;
        let younger: [_; N] = std::array::from_fn(|_| {
            if next == tail {
                return None;
            }
            let position = next;
            next = next.wrapping_add(1);
            // SAFETY: no thief claims more than the older half.
            Some(unsafe { ring.read(position) })
        });
        Some(younger.into_iter().flatten())
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
