//! How thieves take items out.

use primitives::atomic::Ordering;

use super::{Head, Ring};

use Ordering::{Acquire, Relaxed, Release};

/// Claimed items of a ring, some of which may not have been read yet. An
/// iterator over them; dropping it drops the items that it hasn't given out.
pub struct Claim<'a, T, const N: usize> {
    pub(super) next: u32,
    pub(super) end: u32,
    pub(super) release: ReleaseOnDrop<'a, T, N>,
}

impl<'a, T, const N: usize> Claim<'a, T, N> {
    /// Claims half of the items that wait, rounded up, but at most `most`.
    /// Returns `None` if that is nothing, or if another thread has a claim.
    pub fn new(ring: &'a Ring<T, N>, most: usize) -> Option<Self> {
        // Relaxed: if it is old, the compare-exchange fails.
        // Model: `owner_and_thief_share_the_items_in_every_order`.
        let mut word = ring.head.load(Relaxed);
        loop {
            let head = Head::unpack(word);
            // Thieves take turns: two claims could end in either order, but
            // slots have to be freed in one order.
            // Model: `two_thieves_and_the_owner_share_in_every_order`.
            if head.claimed != 0 {
                return None;
            }
            // Acquire: pairs with the Release in `push` and in
            // `claim_newest_half`; the items before `tail` are in their slots.
            // Model: `what_was_written_before_a_push_is_seen_after_the_steal`.
            let tail = ring.tail.load(Acquire);
            let count = head.waiting(tail).div_ceil(2).min(most as u32);
            if count == 0 {
                return None;
            }
            let after = head.with_claim(count).pack();
            // Release: pairs with the Acquire in `Ring::count`. For the items
            // Relaxed would do: `tail` has shown them, and nothing is handed
            // over before `ReleaseOnDrop::drop`.
            // Model: `a_queue_that_always_has_an_item_never_seems_empty`.
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

impl<T, const N: usize> Drop for Claim<'_, T, N> {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}

/// Gives the claimed slots back, even if the destructor of an item panics.
pub struct ReleaseOnDrop<'a, T, const N: usize> {
    pub(super) ring: &'a Ring<T, N>,
}

impl<T, const N: usize> Drop for ReleaseOnDrop<'_, T, N> {
    #[inline]
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `push`; the slots have been read.
        // One instruction without a loop, because it also gives back everything
        // that the owner has popped behind us.
        // Model: `nothing_is_written_over_while_a_thief_copies`.
        self.ring.head.fetch_and(Head::NEXT, Release);
    }
}
