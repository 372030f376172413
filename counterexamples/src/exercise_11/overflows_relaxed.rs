//! Breaks clause 11: Counts.
//! Caught by: models::a_queue_that_has_always_an_item_never_seems_empty
//!
//! The owner claims its own items, which it has pushed itself: there is nothing
//! to hand over, so the exchange is `Relaxed`. Who sees the new head from
//! outside may see a tail from before the last pushes.

use sync::atomic::Ordering;

use claim::{Claim, Held};
use head::Head;
use ring::Ring;

use Ordering::{Relaxed, Release};

pub use handles::{Local, Stealer, run_queue, run_queue_at};

impl<'a, T, const N: usize> Claim<'a, T, N> {
    /// Claims the younger half of a full ring, which keeps the older one.
    /// `None` if it is not full, or if somebody else has a claim.
    ///
    /// # Safety
    ///
    /// The caller must be the owner: no other thread may push or pop meanwhile.
    pub unsafe fn younger(ring: &'a Ring<T, N>) -> Option<Self> {
        let capacity = Ring::<T, N>::CAPACITY;
        let half = capacity / 2;
        // Relaxed: the owner's own.
        let tail = ring.tail.load(Relaxed);
        let full = Head {
            next: tail.wrapping_sub(capacity),
            held: 0,
        };
        // 1. From here to `Held::drop` thieves go away.
        ring.head
            .compare_exchange(
                full.pack(),
                full.claimed(half).pack(),
                Relaxed,
                Relaxed,
            )
            .ok()?;
        // 2. Release: pairs with the Acquire in `Claim::new`, for the items, as
        // in `push`.
        ring.tail.store(tail.wrapping_add(half), Release);
        // 3. A swap, not a store: it goes on with the release sequences, as all
        // changes of this word do.
        // Release: pairs with the Acquire in `Ring::count`; shows step 2.
        let younger = Head {
            next: tail,
            held: half,
        };
        ring.head.swap(younger.pack(), Release);
        Some(Self {
            next: tail.wrapping_sub(half),
            end: tail,
            held: Held { ring },
        })
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

// No tests: on x86 they pass, since its loads and stores keep this order by
// themselves.
#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/11-run-queue/src/models.rs"]
mod models;
