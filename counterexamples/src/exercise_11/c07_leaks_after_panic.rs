//! Breaks clause 7: Overflow.
//! Caught by: a_panic_of_the_overflow_drops_what_was_on_its_way
//! Also fails: every_history_of_calls_moves_the_right_items
//!
//! The claim gives its slots back in its destructor, even after a panic of
//! `overflow`. However, the remaining items in them are never read, so they are
//! never dropped.

use primitives::atomic::Ordering;

use Ordering::{Acquire, Relaxed, Release};

use head::Head;
use ring::Ring;

pub use handles::{Local, Stealer, run_queue, run_queue_at};

/// Claimed items of a ring, some of which may not have been read yet.
pub struct Claim<'a, T, const N: usize> {
    next: u32,
    end: u32,
    release: ReleaseOnDrop<'a, T, N>,
}

impl<'a, T, const N: usize> Claim<'a, T, N> {
    /// Claims half of the items that wait, rounded up, but at most `most`.
    /// Returns `None` if that is nothing, or if another thread has a claim.
    pub fn new(ring: &'a Ring<T, N>, most: usize) -> Option<Self> {
        // Relaxed: if it is old, the compare-exchange fails.
        let mut word = ring.head.load(Relaxed);
        loop {
            let head = Head::unpack(word);
            // Thieves take turns: two claims could end in either order, but
            // slots have to be freed in one order.
            if head.claimed != 0 {
                return None;
            }
            // Acquire: pairs with the Release in `push` and in
            // `claim_newest_half`; the items before `tail` are in their slots.
            let tail = ring.tail.load(Acquire);
            let count = head.waiting(tail).div_ceil(2).min(most as u32);
            if count == 0 {
                return None;
            }
            let after = head.with_claim(count).pack();
            // Release: pairs with the Acquire in `Ring::count`. For the items
            // Relaxed would do: `tail` has shown them, and nothing is handed
            // over before `ReleaseOnDrop::drop`.
            match ring
                .head
                .compare_exchange_weak(word, after, Release, Relaxed)
            {
                Ok(_) => {
                    return Some(Self {
                        next: head.next,
                        end: head.next.wrapping_add(count),
                        release: ReleaseOnDrop { ring },
                    });
                }
                // The owner has popped, or another thief was faster.
                Err(now) => word = now,
            }
        }
    }
}

// ANCHOR: bug
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
        Some(unsafe { self.release.ring.read(position) })
    }
}

/// Gives the claimed slots back, even if the destructor of an item panics.
struct ReleaseOnDrop<'a, T, const N: usize> {
    ring: &'a Ring<T, N>,
}

impl<T, const N: usize> Drop for ReleaseOnDrop<'_, T, N> {
    #[inline]
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `push`; the slots have been read.
        // One instruction without a loop, because it also gives back everything
        // that the owner has popped behind us.
        // ANCHOR: guilty
        self.ring.head.fetch_and(Head::NEXT, Release);
        // ANCHOR_END: guilty
    }
}
// ANCHOR_END: bug

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
