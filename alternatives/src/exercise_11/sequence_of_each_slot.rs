//! Each slot has a sequence number, which says whether the slot is ready for the item of a position
//! to be written or to be read. A slot is free again as soon as its own item is out, even while its
//! neighbors are still being read, and several thieves can copy at the same time. (Dmitry Vyukov's
//! bounded queue has such slots.)

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use primitives::atomic::{AtomicBool, AtomicU32, Ordering};
use primitives::{Arc, UnsafeCell};

use Ordering::{Acquire, Relaxed, Release};

struct Slot<T> {
    /// The position whose item is written here next, or that plus one while the item is here.
    /// Loaded by the owner only.
    sequence: AtomicU32,
    item: UnsafeCell<MaybeUninit<T>>,
}

/// A ring of `N` slots: the item at position `p` is in slot `p % N`. Positions count items, and
/// wrap. Neither `head` nor `tail` ever goes back.
///
/// The thread whose compare-exchange moves `head` past an item has claimed it, and reads its slot;
/// the owner writes into a slot whose sequence number equals the tail.
///
/// *Memory ordering.* Two pairs carry the items.
///
/// 1. The owner's Release of `tail` in `set_tail`, the Acquire in `steal_into`:
///    a thief that sees that an item is there sees the item.
/// 2. The thief's Release of `sequence` in `read`, the owner's Acquire in
///    `is_free`: the owner writes into a slot after the thief has read it.
///
/// A third pair is for a thread that only counts: the Release of `head` in `claim`, the Acquire in
/// `is_empty`.
struct Ring<T, const N: usize> {
    /// The position of the oldest item that waits.
    head: AtomicU32,
    /// The position of the next item to be pushed. Stored by the owner only.
    tail: AtomicU32,
    /// Whether the owner has claimed, or is about to claim, items that stay.
    is_overflowing: AtomicBool,
    slots: Box<[Slot<T>]>,
}

// SAFETY: an item goes to another thread by being taken there, so it must be `Send`; no thread gets
// a reference to it. The rules above say who may touch a slot.
unsafe impl<T: Send, const N: usize> Sync for Ring<T, N> {}

impl<T, const N: usize> Ring<T, N> {
    const CAPACITY: u32 = {
        // With one slot, "its item is here" and "free again" would be the same sequence number.
        // Position 2^32, which is position 0, has to fall on slot 0.
        assert!(N.is_power_of_two() && N >= 2 && N <= 1 << 15);
        N as u32
    };

    fn new(position: u32) -> Self {
        let slots = (0..N).map(|index| {
            // The first position at or after `position` that falls on this slot.
            let ahead = (index as u32).wrapping_sub(position) % Self::CAPACITY;
            Slot {
                sequence: AtomicU32::new(position.wrapping_add(ahead)),
                item: UnsafeCell::new(MaybeUninit::uninit()),
            }
        });
        Self {
            head: AtomicU32::new(position),
            tail: AtomicU32::new(position),
            is_overflowing: AtomicBool::new(false),
            slots: slots.collect(),
        }
    }

    fn slot(&self, position: u32) -> &Slot<T> {
        &self.slots[(position % Self::CAPACITY) as usize]
    }

    /// Returns `true` if the owner may write the item of `position`, which
    /// isn't before the tail.
    fn is_free(&self, position: u32) -> bool {
        // Acquire: pairs with the Release in `read`; the item that was here
        // has been read.
        self.slot(position).sequence.load(Acquire) == position
    }

    /// Puts an item into its slot, for `set_tail` to publish.
    ///
    /// # Safety
    ///
    /// The caller must be the owner, and `is_free` must have returned `true`
    /// for `position`, which isn't before the tail.
    unsafe fn write(&self, position: u32, item: T) {
        let slot = self.slot(position);
        slot.item.with_mut(|place| {
            // SAFETY: `place` is a slot of ours, so it's valid and aligned, and
            // only the owner, which is the caller, touches a free one.
            unsafe { place.write(MaybeUninit::new(item)) };
        });
        // Relaxed: only the owner loads it, and a thief's store in `read` comes
        // later, because the thief has acquired the tail.
        slot.sequence.store(position.wrapping_add(1), Relaxed);
    }

    /// Moves the item at `position` out of its slot, which is then free.
    ///
    /// # Safety
    ///
    /// The caller must have claimed the item, and must not read it twice.
    unsafe fn read(&self, position: u32) -> T {
        let slot = self.slot(position);
        let item = slot.item.with(|place| {
            // SAFETY: `place` is a slot of ours, so it's valid and aligned, and
            // the owner doesn't write to it before the store below.
            unsafe { place.read() }
        });
        let free = position.wrapping_add(Self::CAPACITY);
        // Release: pairs with the Acquire in `is_free`; the item has been read.
        slot.sequence.store(free, Release);
        // SAFETY: the item was written when it was pushed, and the caller, the only thread that has
        // claimed it, reads it once.
        unsafe { item.assume_init() }
    }

    /// Claims `count` items from `head` on. Returns `true` if `head` was still the head, and the
    /// items now belong to the caller.
    fn claim(&self, head: u32, count: u32) -> bool {
        let after = head.wrapping_add(count);
        // Release: pairs with the Acquire in `is_empty`; the tail, and `is_overflowing`, are no
        // older. Relaxed if it fails: in that case nothing has happened.
        self.head
            .compare_exchange(head, after, Release, Relaxed)
            .is_ok()
    }
}

impl<T, const N: usize> Drop for Ring<T, N> {
    fn drop(&mut self) {
        // Relaxed, both: no other thread has the ring.
        let next = self.head.load(Relaxed);
        let left = self.tail.load(Relaxed).wrapping_sub(next);
        let ring = &*self;
        // If a destructor panics, `Claimed` drops the other items.
        Claimed { ring, next, left }.for_each(drop);
    }
}

/// Makes a queue of at most `N` items, a power of two from 2 to 32,768. (Its
/// slots may be made on the stack before they are moved to the heap.)
pub fn run_queue<T, const N: usize>() -> (Local<T, N>, Stealer<T, N>) {
    run_queue_at(0)
}

/// Makes a queue whose first item is at `position`, for checks of what happens
/// at the end of the positions.
pub fn run_queue_at<T, const N: usize>(
    position: u32,
) -> (Local<T, N>, Stealer<T, N>) {
    let local = Local {
        ring: Arc::new(Ring::new(position)),
        _not_sync: PhantomData,
    };
    let stealer = local.stealer();
    (local, stealer)
}

/// The owner's end.
pub struct Local<T, const N: usize> {
    ring: Arc<Ring<T, N>>,
    /// Makes it `!Sync`: there is exactly one owner.
    _not_sync: PhantomData<Cell<()>>,
}

impl<T, const N: usize> Local<T, N> {
    /// Puts an item at the end.
    ///
    /// # Errors
    ///
    /// Gives the item back if the queue is full.
    pub fn push(&self, item: T) -> Result<(), T> {
        let tail = self.tail();
        if !self.ring.is_free(tail) {
            return Err(item);
        }
        // SAFETY: this is neither `Sync` nor `Clone`, so the thread that has it
        // is the owner; the slot at the tail is free.
        unsafe { self.ring.write(tail, item) };
        self.set_tail(tail.wrapping_add(1));
        Ok(())
    }

    /// Puts an item at the end. If the queue is full, the younger half of it
    /// and the item go to `overflow`, one by one; if a thief is at work,
    /// perhaps the item alone.
    pub fn push_or_overflow(&self, item: T, mut overflow: impl FnMut(T)) {
        if let Err(item) = self.push(item) {
            let younger = self.take_younger_half();
            younger.into_iter().flatten().for_each(&mut overflow);
            overflow(item);
        }
    }

    /// Takes the younger half out of a full queue. Returns `None` if a thief is at work.
    ///
    /// The owner claims all items, and then puts the older half behind the younger half. No item
    /// moves, because position `p + N` is in the slot of `p`.
    fn take_younger_half(&self) -> Option<Claimed<'_, T, N>> {
        let ring = &*self.ring;
        let capacity = Ring::<T, N>::CAPACITY;
        let half = capacity / 2;
        let tail = self.tail();
        // Relaxed: if it is old, the claim fails.
        let head = ring.head.load(Relaxed);
        if tail.wrapping_sub(head) != capacity {
            return None;
        }
        // Relaxed: `claim` publishes it, and means nothing before that.
        ring.is_overflowing.store(true, Relaxed);
        if !ring.claim(head, capacity) {
            // Release: as below, since `is_empty` may see this store instead of an earlier store
            // there.
            ring.is_overflowing.store(false, Release);
            return None;
        }
        for position in (0..half).map(|ahead| tail.wrapping_add(ahead)) {
            let sequence = &ring.slot(position).sequence;
            // Relaxed: as in `write`.
            sequence.store(position.wrapping_add(1), Relaxed);
        }
        self.set_tail(tail.wrapping_add(half));
        // Release: pairs with the Acquire in `is_empty`; the tail has moved on.
        ring.is_overflowing.store(false, Release);
        Some(Claimed {
            ring,
            next: head.wrapping_add(half),
            left: half,
        })
    }

    /// Takes the oldest item.
    pub fn pop(&self) -> Option<T> {
        let tail = self.tail();
        loop {
            // Relaxed: if it is old, the claim fails.
            let head = self.ring.head.load(Relaxed);
            if head == tail {
                return None;
            }
            if self.ring.claim(head, 1) {
                // SAFETY: the item is claimed, and read once.
                return Some(unsafe { self.ring.read(head) });
            }
        }
    }

    /// Returns how many items wait here, at most.
    pub fn len(&self) -> usize {
        // Relaxed: a count is out of date anyway.
        let head = self.ring.head.load(Relaxed);
        self.tail().wrapping_sub(head) as usize
    }

    /// Returns `true` if no item waits here.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many more items there is room for, at least.
    pub fn free(&self) -> usize {
        self.room(Ring::<T, N>::CAPACITY) as usize
    }

    /// Returns how many slots from the tail on are free, up to `most`.
    fn room(&self, most: u32) -> u32 {
        let tail = self.tail();
        let is_taken =
            |ahead: &u32| !self.ring.is_free(tail.wrapping_add(*ahead));
        (0..most).find(is_taken).unwrap_or(most)
    }

    fn tail(&self) -> u32 {
        // Relaxed: the owner's own.
        self.ring.tail.load(Relaxed)
    }

    fn set_tail(&self, tail: u32) {
        // Release: pairs with the Acquire in `steal_into`; publishes the items.
        self.ring.tail.store(tail, Release);
    }

    /// Makes a thief's end of this queue.
    pub fn stealer(&self) -> Stealer<T, N> {
        Stealer {
            ring: self.ring.clone(),
        }
    }
}

/// A thief's end.
pub struct Stealer<T, const N: usize> {
    ring: Arc<Ring<T, N>>,
}

impl<T, const N: usize> Stealer<T, N> {
    /// Steals half of the items: returns one, and moves the others, no more than there is room for,
    /// into the thief's queue.
    pub fn steal_into(&self, thief: &Local<T, N>) -> Option<T> {
        let ring = &*self.ring;
        loop {
            // Acquire: pairs with the Release in `claim`; the tail is no older.
            let head = ring.head.load(Acquire);
            // Acquire: pairs with the Release in `set_tail`; the items before
            // it are in their slots.
            let waiting = ring.tail.load(Acquire).wrapping_sub(head);
            if waiting == 0 {
                return None;
            }
            if waiting > Ring::<T, N>::CAPACITY {
                // The head has moved on since then.
                continue;
            }
            let more = thief.room(waiting.div_ceil(2) - 1);
            if !ring.claim(head, 1 + more) {
                continue;
            }
            // SAFETY: the item is claimed, and read once.
            let first = unsafe { ring.read(head) };
            let tail = thief.tail();
            for ahead in 0..more {
                let from = head.wrapping_add(1 + ahead);
                // SAFETY: as above.
                let item = unsafe { ring.read(from) };
                // SAFETY: `thief` is neither `Sync` nor `Clone`, so we are its
                // owner; `room` has seen that the slot is free.
                unsafe { thief.ring.write(tail.wrapping_add(ahead), item) };
            }
            thief.set_tail(tail.wrapping_add(more));
            return Some(first);
        }
    }

    /// Returns `true` if no item waits there.
    pub fn is_empty(&self) -> bool {
        // Acquire: pairs with the Release in `claim`; what is loaded next is no
        // older.
        let head = self.ring.head.load(Acquire);
        // In this order: if the owner has claimed items that stay, we see either the flag or the
        // tail that has moved on since then.
        // Acquire: pairs with the Release in `take_younger_half`, for the tail.
        if self.ring.is_overflowing.load(Acquire) {
            return false;
        }
        // Relaxed: only a number.
        self.ring.tail.load(Relaxed) == head
    }
}

impl<T, const N: usize> Clone for Stealer<T, N> {
    fn clone(&self) -> Self {
        Self {
            ring: self.ring.clone(),
        }
    }
}

/// Claimed items of a ring, some of which may not have been read yet. Dropping it drops the items
/// that it hasn't given out.
struct Claimed<'a, T, const N: usize> {
    ring: &'a Ring<T, N>,
    next: u32,
    left: u32,
}

impl<T, const N: usize> Iterator for Claimed<'_, T, N> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        let position = self.next;
        self.next = position.wrapping_add(1);
        // SAFETY: the item is claimed, and `next` has moved past it.
        Some(unsafe { self.ring.read(position) })
    }
}

impl<T, const N: usize> Drop for Claimed<'_, T, N> {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/11-run-queue/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/11-run-queue/src/tests/mod.rs"]
mod tests;
