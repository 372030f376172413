//! Breaks clause 11: Counts.
//! Caught by: models::a_queue_that_has_always_an_item_never_seems_empty
//! Also fails: models::a_queue_that_overflows_does_not_seem_empty_after_a_steal
//!
//! One exchange takes all, and then the older half is put back, by saying that
//! it is there. In between the queue seems empty, though it is full. Tokio does
//! this, and may: it tells a sleeper of what has overflowed, and whoever wakes
//! for that finds the rest as well. This contract promises more.

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
        // From here to `Held::drop` thieves go away.
        // Release: pairs with the Acquire in `Ring::count`; the tail is no
        // older. Relaxed if it fails: then nothing has happened.
        let younger = Head {
            next: tail,
            held: half,
        };
        ring.head
            .compare_exchange(full.pack(), younger.pack(), Release, Relaxed)
            .ok()?;
        // Release: pairs with the Acquire in `Claim::new`, for the items, as in
        // `push`.
        ring.tail.store(tail.wrapping_add(half), Release);
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

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/11-run-queue/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/11-run-queue/src/tests/mod.rs"]
mod tests;
