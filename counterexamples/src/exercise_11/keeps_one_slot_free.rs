//! Breaks clause 3: Full means full.
//! Caught by: exactly_n_items_fit
//! Also fails: a_steal_takes_about_half
//! Also fails: a_full_queue_gives_half_and_the_item_away
//! Also fails: a_slot_is_free_again_once_its_item_is_out
//! Also fails: models::a_steal_into_a_queue_that_is_stolen_from_writes_over_nothing
//! Also fails: models::a_stolen_item_can_be_stolen_on
//! Also fails: models::an_overflow_during_a_steal_loses_nothing
//! Also fails: models::an_overflow_meets_two_steals
//! Also fails: models::nothing_is_written_over_while_a_thief_copies
//! Also fails: models::two_thieves_and_the_owner_share_in_every_order
//! Also fails: models::what_is_free_stays_free_in_every_order
//! Also fails: the_counts_are_right_while_nobody_else_is_at_work
//! Also fails: models::an_overflow_meets_the_steals_of_two_threads
//! Also fails: models::a_queue_that_overflows_does_not_seem_empty_after_a_steal
//! Also fails: the_largest_queue_counts_what_it_has
//! Also fails: a_thief_that_is_half_full_may_steal
//!
//! A ring must keep one slot free, or full looks like empty: so it is in every
//! textbook, where the two cursors are indices. Here they are positions, whose
//! difference is `N` when the ring is full.

use std::mem::MaybeUninit;

use sync::UnsafeCell;
use sync::atomic::{AtomicU32, AtomicU64, Ordering};

use Ordering::{Acquire, Relaxed, Release};

use claim::{Claim, Held};
use head::Head;

pub use handles::{Local, Stealer, run_queue, run_queue_at};

/// A ring of `N` slots: the item at position `p` is in slot `p % N`.
///
/// Who may touch a slot:
///
/// - one that holds an item which waits (`next` to `tail`): whoever takes that
///   item, by a compare-and-swap of `head`, and then reads it;
/// - one that is held (`start` to `next`): the one who has claimed it;
/// - any other: the owner, who writes the next item into it.
pub struct Ring<T, const N: usize> {
    /// A [`Head`]. Changed by all, by read-modify-writes only.
    pub head: AtomicU64,
    /// The position of the next item to be pushed. Stored by the owner only.
    pub tail: AtomicU32,
    slots: [UnsafeCell<MaybeUninit<T>>; N],
}

// SAFETY: an item goes to another thread by being taken there, for which it
// must be `Send`; nobody gets a reference to it. Who may touch a slot is said
// above.
unsafe impl<T: Send, const N: usize> Sync for Ring<T, N> {}

impl<T, const N: usize> Ring<T, N> {
    /// The number of slots, as a difference of positions.
    pub const CAPACITY: u32 = {
        // Then position 2^32, which is position 0, falls on slot 0 as well.
        assert!(N.is_power_of_two(), "`N` is not a power of two");
        // Then a negative distance is not taken for a positive one.
        assert!(N <= 1 << 30, "`N` is too large for positions of 32 bits");
        N as u32
    };

    /// Makes an empty ring.
    pub fn new(position: u32) -> Self {
        let head = Head {
            next: position,
            held: 0,
        };
        Self {
            head: AtomicU64::new(head.pack()),
            tail: AtomicU32::new(position),
            slots: std::array::from_fn(|_| {
                UnsafeCell::new(MaybeUninit::uninit())
            }),
        }
    }

    /// Puts an item at the end, or gives it back if there is no room.
    ///
    /// # Safety
    ///
    /// The caller must be the owner: no other thread may push or pop meanwhile.
    #[inline]
    pub unsafe fn push(&self, item: T) -> Result<(), T> {
        // Relaxed: the owner's own.
        let tail = self.tail.load(Relaxed);
        // Acquire: pairs with the Release in `Held::drop`; a thief has read
        // what was in a slot that it gave back.
        let head = Head::unpack(self.head.load(Acquire));
        // One slot stays free: with all of them taken the ring would look
        // empty.
        if tail.wrapping_sub(head.start()) == Self::CAPACITY - 1 {
            return Err(item);
        }
        self.slot(tail).with_mut(|slot| {
            // SAFETY: the slot is neither waiting nor held, and the caller is
            // the owner: nobody else touches it.
            let slot = unsafe { &mut *slot };
            slot.write(item);
        });
        // Release: pairs with the Acquire in `Claim::new`; publishes the item.
        self.tail.store(tail.wrapping_add(1), Release);
        Ok(())
    }

    /// Takes the oldest item.
    ///
    /// # Safety
    ///
    /// The caller must be the owner: no other thread may push or pop meanwhile.
    #[inline]
    pub unsafe fn pop(&self) -> Option<T> {
        // Relaxed: the owner's own, and so are the items before it.
        let tail = self.tail.load(Relaxed);
        // Relaxed: if it is old, the exchange fails.
        let mut word = self.head.load(Relaxed);
        loop {
            let head = Head::unpack(word);
            if head.next == tail {
                return None;
            }
            let after = head.popped().pack();
            // Release: pairs with the Acquire in `count`; the tail is no older.
            // The item needs nothing: the owner wrote it, and will itself write
            // over it.
            match self
                .head
                .compare_exchange_weak(word, after, Release, Relaxed)
            {
                // SAFETY: the item waited, and has been taken by the exchange.
                Ok(_) => return Some(unsafe { self.read(head.next) }),
                // A thief has claimed some, or has given its slots back.
                Err(now) => word = now,
            }
        }
    }

    /// How many items wait; the owner's count may be too high where thieves
    /// are at work.
    #[inline]
    pub fn count(&self) -> usize {
        // Acquire: pairs with the Release of each exchange of `head`; the tail
        // that we load next is no older than this head. With an older one
        // a ring that always has an item in it could seem empty.
        let head = Head::unpack(self.head.load(Acquire));
        // Relaxed: a count is of the past anyway.
        let tail = self.tail.load(Relaxed);
        head.waiting(tail).min(Self::CAPACITY) as usize
    }

    /// How many items the owner can push before anything else happens.
    #[inline]
    pub fn free(&self) -> usize {
        // Relaxed: the owner's own.
        let tail = self.tail.load(Relaxed);
        // Relaxed: only a number; `push` acquires.
        let head = Head::unpack(self.head.load(Relaxed));
        (Self::CAPACITY - 1 - tail.wrapping_sub(head.start())) as usize
    }

    /// Copies the item at `position` out of its slot.
    ///
    /// # Safety
    ///
    /// The caller must have taken the item, and must not read it twice.
    #[inline]
    pub unsafe fn read(&self, position: u32) -> T {
        self.slot(position).with(|slot| {
            // SAFETY: while an item is taken or waits, nobody writes to its
            // slot.
            let slot = unsafe { &*slot };
            // SAFETY: it was written when it was pushed, and the caller alone
            // has taken it.
            unsafe { slot.assume_init_read() }
        })
    }

    fn slot(&self, position: u32) -> &UnsafeCell<MaybeUninit<T>> {
        &self.slots[(position & (Self::CAPACITY - 1)) as usize]
    }
}

impl<T, const N: usize> Drop for Ring<T, N> {
    fn drop(&mut self) {
        // SAFETY: nobody else has the ring any more.
        while let Some(item) = unsafe { self.pop() } {
            drop(item);
        }
    }
}

// The other parts are those of the solution.
#[path = "../../../solutions/11-run-queue/src/claim.rs"]
mod claim;
#[path = "../../../solutions/11-run-queue/src/handles.rs"]
mod handles;
#[path = "../../../solutions/11-run-queue/src/head.rs"]
mod head;
#[path = "../../../solutions/11-run-queue/src/overflow.rs"]
mod overflow;

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/11-run-queue/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/11-run-queue/src/tests/mod.rs"]
mod tests;
