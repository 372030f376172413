//! The slots, and what only the owner does to them.

use std::mem::MaybeUninit;

use primitives::UnsafeCell;
use primitives::atomic::{AtomicU32, AtomicU64, Ordering};

use super::Head;

use Ordering::{Acquire, Relaxed, Release};

/// A ring of `N` slots: the item at position `p` is in slot `p % N`.
///
/// Who may touch a slot:
///
/// - one that holds a waiting item (`next` to `tail`): the thread that takes
///   that item, with a CAS of `head`, and then reads it;
/// - one that is claimed (`start` to `next`): the thread that has claimed it;
/// - any other: the owner, which writes the next item into it.
///
/// *Memory ordering.* Two pairs carry the items.
///
/// 1. The owner's Release of `tail` in `push` and in
///    `Claim::claim_newest_half`, the Acquire in `Claim::new`: a thread that
///    sees that an item is there sees the item.
/// 2. The thief's Release of `head` in `ReleaseOnDrop::drop`, the owner's
///    Acquire in `push`: when the owner sees that a slot is free, its write
///    comes after the thief's read. Between the two there may be other changes
///    of `head`, by pops and claims. They are RMWs, so they continue the
///    release sequence, and pass on what the thief has released.
///
/// A third pair is for a thread that only counts: the Release of each
/// compare-exchange of `head`, the Acquire in `count`.
///
/// `head` and `tail` aren't read at the same moment. A thief that has seen an
/// old `tail` finds fewer items than there are, or fewer than none. A thief
/// that has seen an old `head` fails in its CAS: `next` only grows.
/// Model: `an_old_look_at_the_positions_takes_nothing`.
///
/// *How narrow can a position be?* A thief's CAS would succeed on an old `next`
/// if the thief paused between its load of `head` and its CAS, while `next`
/// advanced by an exact multiple of 2³². At 5 ns an item that is a pause of 21
/// s that ends at one particular item out of four billion (and out of half as
/// many where the queue always overflows). With 16 bits it would be a third of
/// a millisecond and one in 65,536.
pub struct Ring<T, const N: usize> {
    /// A [`Head`]. All threads change it, with RMWs only.
    pub head: AtomicU64,
    /// The position of the next item to be pushed. Stored by the owner only.
    pub tail: AtomicU32,
    slots: [UnsafeCell<MaybeUninit<T>>; N],
}

// SAFETY: an item goes to another thread by being taken there, so it must be
// `Send`; no thread gets a reference to it. The rules above say who may touch a
// slot.
unsafe impl<T: Send, const N: usize> Sync for Ring<T, N> {}

impl<T, const N: usize> Ring<T, N> {
    /// The number of slots, as a difference of positions.
    pub const CAPACITY: u32 = {
        // So position 2^32, which is position 0, falls on slot 0 as well.
        assert!(N.is_power_of_two(), "`N` is not a power of two");
        assert!(N > 1, "one item has no half that could stay");
        // An array is made on the stack. Positions of 32 bits would allow many
        // more: they only require that a negative distance isn't taken for a
        // positive one.
        assert!(N <= 1 << 15, "`N` slots may not fit onto the stack");
        N as u32
    };

    /// Makes an empty ring.
    pub fn new(position: u32) -> Self {
        let head = Head {
            next: position,
            claimed: 0,
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
    // ANCHOR: push
    pub unsafe fn push(&self, item: T) -> Result<(), T> {
        // Relaxed: the owner's own.
        let tail = self.tail.load(Relaxed);
        // Acquire: pairs with the Release in `ReleaseOnDrop::drop`; a thief has
        // read what was in a slot that it gave back.
        // Model: `nothing_is_written_over_while_a_thief_copies`.
        let head = Head::unpack(self.head.load(Acquire));
        if tail.wrapping_sub(head.start()) == Self::CAPACITY {
            return Err(item);
        }
        self.slot(tail).with_mut(|slot| {
            // SAFETY: the slot is neither waiting nor claimed, and the caller
            // is the owner: no other thread touches it.
            let slot = unsafe { &mut *slot };
            slot.write(item);
        });
        // Release: pairs with the Acquire in `Claim::new`; publishes the item.
        // Model: `what_was_written_before_a_push_is_seen_after_the_steal`.
        self.tail.store(tail.wrapping_add(1), Release);
        Ok(())
    }
    // ANCHOR_END: push

    /// Takes the oldest item.
    ///
    /// # Safety
    ///
    /// The caller must be the owner: no other thread may push or pop meanwhile.
    #[inline]
    // ANCHOR: pop
    pub unsafe fn pop(&self) -> Option<T> {
        // Relaxed: the owner's own, and so are the items before it.
        let tail = self.tail.load(Relaxed);
        // Relaxed: if it is old, the compare-exchange fails.
        // Model: `owner_and_thief_share_the_items_in_every_order`.
        let mut word = self.head.load(Relaxed);
        loop {
            let head = Head::unpack(word);
            if head.next == tail {
                return None;
            }
            let after = head.popped().pack();
            // Release: pairs with the Acquire in `count`; the tail is no older.
            // The item needs no ordering: the owner wrote it, and will
            // overwrite it itself.
            // Model: `a_queue_that_always_has_an_item_never_seems_empty`.
            match self
                .head
                .compare_exchange_weak(word, after, Release, Relaxed)
            {
                // SAFETY: the item waited, and the compare-exchange has taken
                // it.
                Ok(_) => return Some(unsafe { self.read(head.next) }),
                // A thief has claimed items, or has given its slots back.
                Err(now) => word = now,
            }
        }
    }
    // ANCHOR_END: pop

    /// Returns how many items wait; the owner's count may be too high while
    /// thieves are at work.
    #[inline]
    pub fn count(&self) -> usize {
        // Acquire: pairs with the Release of each compare-exchange of `head`;
        // the tail that we load next is no older than this head. With an older
        // tail, a ring that always has an item in it could seem empty.
        // Model: `a_queue_that_always_has_an_item_never_seems_empty`.
        let head = Head::unpack(self.head.load(Acquire));
        // Relaxed: a count is out of date anyway.
        let tail = self.tail.load(Relaxed);
        head.waiting(tail).min(Self::CAPACITY) as usize
    }

    /// Returns how many items the owner can push before anything else happens.
    #[inline]
    pub fn free(&self) -> usize {
        // Relaxed: the owner's own.
        let tail = self.tail.load(Relaxed);
        // Relaxed: only a number; `push` acquires.
        let head = Head::unpack(self.head.load(Relaxed));
        (Self::CAPACITY - tail.wrapping_sub(head.start())) as usize
    }

    /// Copies the item at `position` out of its slot.
    ///
    /// # Safety
    ///
    /// The caller must have taken the item, and must not read it twice.
    #[inline]
    pub unsafe fn read(&self, position: u32) -> T {
        self.slot(position).with(|slot| {
            // SAFETY: while an item is taken or waits, no thread writes to its
            // slot.
            let slot = unsafe { &*slot };
            // SAFETY: it was written when it was pushed, and only the caller
            // has taken it.
            unsafe { slot.assume_init_read() }
        })
    }

    /// Returns the slot of the item at `position`.
    #[inline]
    pub fn slot(&self, position: u32) -> &UnsafeCell<MaybeUninit<T>> {
        &self.slots[(position & (Self::CAPACITY - 1)) as usize]
    }
}

impl<T, const N: usize> Drop for Ring<T, N> {
    fn drop(&mut self) {
        // SAFETY: no other thread has the ring anymore.
        while let Some(item) = unsafe { self.pop() } {
            drop(item);
        }
    }
}
