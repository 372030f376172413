//! What the owner does when there is no room.

use primitives::atomic::Ordering;

use super::{Claim, Head, ReleaseOnDrop, Ring};

use Ordering::{Relaxed, Release};

impl<'a, T, const N: usize> Claim<'a, T, N> {
    /// Claims the younger half of a full ring, which keeps the older half.
    /// Returns `None` if it isn't full, or if another thread has a claim.
    ///
    /// No item moves. Position `p + N` is in the slot of `p`, so putting the
    /// older half behind the younger half only takes saying so.
    ///
    /// ```text
    ///      older       younger
    ///   ├───────────┼───────────┤
    ///  next                   tail                    full
    ///   ├──claimed──┼──waiting──┤
    ///              next       tail                    1: like a thief
    ///   ├──claimed──┼────────waiting────────┤
    ///              next                   tail        2: the older again
    ///               ├──claimed──┼──waiting──┤
    ///                          next       tail        3: the younger instead
    /// ```
    ///
    /// At each of these moments an item waits: the ring never looks empty to a
    /// thread that checks.
    /// Model: `a_queue_that_always_has_an_item_never_seems_empty`.
    ///
    /// # Safety
    ///
    /// The caller must be the owner: no other thread may push or pop meanwhile.
    // ANCHOR: claim_newest_half
    pub unsafe fn claim_newest_half(ring: &'a Ring<T, N>) -> Option<Self> {
        let capacity = Ring::<T, N>::CAPACITY;
        let half = capacity / 2;
        // Relaxed: the owner's own.
        let tail = ring.tail.load(Relaxed);
        let full = Head {
            next: tail.wrapping_sub(capacity),
            claimed: 0,
        };
        // 1. From here to `ReleaseOnDrop::drop` thieves leave.
        // Release: pairs with the Acquire in `Ring::count`; the tail is no
        // older. Relaxed if it fails: in that case nothing has happened.
        // Model: `a_queue_that_always_has_an_item_never_seems_empty`.
        ring.head
            .compare_exchange(
                full.pack(),
                full.with_claim(half).pack(),
                Release,
                Relaxed,
            )
            .ok()?;
        // 2. Release: pairs with the Acquire in `Claim::new`, for the items, as
        // in `push`.
        // Model: `what_stays_is_seen_by_the_thief_that_steals_it`.
        ring.tail.store(tail.wrapping_add(half), Release);
        // 3. A swap, not a store: it continues the release sequences, as all
        // changes of this word do.
        // Release: pairs with the Acquire in `Ring::count`; shows step 2.
        // Model: `a_queue_that_always_has_an_item_never_seems_empty`.
        let younger = Head {
            next: tail,
            claimed: half,
        };
        ring.head.swap(younger.pack(), Release);
        Some(Self {
            next: tail.wrapping_sub(half),
            end: tail,
            release: ReleaseOnDrop { ring },
        })
    }
    // ANCHOR_END: claim_newest_half
}
