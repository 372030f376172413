//! The head is one word of three parts: the oldest slot that isn't free, how many slots from there
//! on are claimed by a thief, and a version. An overflow marks the word as its own, so that the
//! overflow and the thieves exclude each other. The owner then takes the younger half from the end,
//! and moves its tail back.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

use primitives::atomic::{AtomicU32, AtomicU64, Ordering};
use primitives::{Arc, UnsafeCell};

use Ordering::{Acquire, Relaxed, Release};

/// Stored instead of the number of claimed slots: the queue overflows, and its owner is taking the
/// younger half out.
const OWNER: u16 = u16::MAX;

/// The word on which the owner and the thieves agree.
///
/// States:
///
/// - *At rest*, `claimed == 0`: no slot is being read. Set at the start, by
///   `release` and at the end of `take_younger_half`. --> at rest (the owner
///   pops), claimed (`claim`), overflowing (`take_younger_half`).
/// - *Claimed*, `claimed` up to `N`: one thief reads its slots, and the owner
///   pops behind them. No other thief may claim. --> claimed (the owner pops),
///   at rest (`release`).
/// - *Overflowing*, `claimed == OWNER`: thieves may not claim, and the owner
///   doesn't pop. --> at rest (`take_younger_half`).
#[derive(Clone, Copy)]
struct Head {
    /// The oldest slot that isn't free.
    position: u32,
    /// How many slots from there on are claimed by a thief, or were popped by the owner behind the
    /// claimed ones; or [`OWNER`].
    claimed: u16,
    /// How many overflows there have been: a thief's compare-exchange from before one fails.
    version: u16,
}

impl Head {
    fn unpack(word: u64) -> Self {
        Self {
            position: (word >> 32) as u32,
            claimed: (word >> u16::BITS) as u16,
            version: word as u16,
        }
    }

    fn pack(self) -> u64 {
        u64::from(self.position) << 32
            | u64::from(self.claimed) << u16::BITS
            | u64::from(self.version)
    }

    /// The position of the oldest item.
    fn start(self) -> u32 {
        match self.claimed {
            OWNER => self.position,
            claimed => self.position.wrapping_add(u32::from(claimed)),
        }
    }

    /// The head after the owner has taken an item. Its slot isn't free before the claimed ones are.
    fn popped(self) -> Self {
        if self.claimed == 0 {
            let position = self.position.wrapping_add(1);
            Self { position, ..self }
        } else {
            let claimed = self.claimed + 1;
            Self { claimed, ..self }
        }
    }

    /// The head after the thief has read its slots: these, and those that the owner has popped
    /// behind them, are free.
    fn released(self) -> Self {
        let position = self.start();
        Self {
            position,
            claimed: 0,
            ..self
        }
    }
}

/// A ring of `N` slots: the item at position `p` is in slot `p % N`.
///
/// The thread whose compare-exchange of `head` takes an item reads its slot; the owner writes into
/// the slots from `tail` on that are free.
///
/// *Memory ordering.* Two pairs carry the items.
///
/// 1. The owner's Release of `tail` in `set_tail`, the thief's Acquire in
///    `claim`: a thief that sees that an item is there sees the item.
/// 2. The thief's Release of `head` in `exchange`, the owner's Acquire in `head`: the owner writes
///    into a slot after the thief has read it. The changes between the two are RMWs, which continue
///    the release sequence, except for the store in `take_younger_half`, and before that store the
///    owner has acquired.
///
/// The same Release and Acquire of `head` ensure that the tail loaded after it is no older than the
/// head: `tail - head` never wraps.
struct Ring<T, const N: usize> {
    /// A [`Head`].
    head: AtomicU64,
    /// The position of the next item to be pushed. Stored by the owner only.
    tail: AtomicU32,
    slots: Box<[UnsafeCell<MaybeUninit<T>>]>,
}

// SAFETY: an item goes to another thread by being taken there, so it must be `Send`; no thread gets
// a reference to it. The rules above say who may touch a slot.
unsafe impl<T: Send, const N: usize> Sync for Ring<T, N> {}

impl<T, const N: usize> Ring<T, N> {
    fn new(position: u32) -> Self {
        const {
            // Then `claimed` never becomes `OWNER`, and position 2^32, which is
            // position 0, falls on slot 0 as well.
            assert!(N.is_power_of_two() && N >= 2 && N <= 1 << 15);
        }
        let head = Head {
            position,
            claimed: 0,
            version: 0,
        };
        Self {
            head: AtomicU64::new(head.pack()),
            tail: AtomicU32::new(position),
            slots: (0..N)
                .map(|_| UnsafeCell::new(MaybeUninit::uninit()))
                .collect(),
        }
    }

    fn head(&self) -> Head {
        // Acquire: pairs with the Release in `exchange` and in
        // `take_younger_half`; free slots have been read, and the tail is no
        // older than this.
        Head::unpack(self.head.load(Acquire))
    }

    /// Replaces the head, unless it has changed.
    ///
    /// # Errors
    ///
    /// Returns the head as it is now.
    fn exchange(&self, old: Head, new: Head) -> Result<(), Head> {
        // Release: pairs with the Acquire in `head`; the slots have been read.
        // Acquire if it fails: the returned head stands in for one that `head` loads.
        self.head
            .compare_exchange(old.pack(), new.pack(), Release, Acquire)
            .map(drop)
            .map_err(Head::unpack)
    }

    /// Returns the tail, for its owner.
    fn tail(&self) -> u32 {
        // Relaxed: the owner's own.
        self.tail.load(Relaxed)
    }

    fn set_tail(&self, tail: u32) {
        // Release: pairs with the Acquire in `claim`; publishes the items.
        self.tail.store(tail, Release);
    }

    fn slot(&self, position: u32) -> &UnsafeCell<MaybeUninit<T>> {
        &self.slots[position as usize % N]
    }

    /// Moves the item at `position` out of its slot.
    ///
    /// # Safety
    ///
    /// The caller must have taken the item, and must not read it twice. No
    /// thread may write to its slot meanwhile.
    unsafe fn read(&self, position: u32) -> T {
        let item = self.slot(position).with(|place| {
            // SAFETY: `place` is a slot of ours, so it's valid and aligned, and
            // no thread writes to it meanwhile.
            unsafe { place.read() }
        });
        // SAFETY: the item was written when it was pushed, and the caller, the only thread that has
        // taken it, reads it once.
        unsafe { item.assume_init() }
    }

    /// Puts an item into its slot, for `set_tail` to publish.
    ///
    /// # Safety
    ///
    /// The caller must be the owner, and must have seen that the slot of
    /// `position` is free.
    unsafe fn write(&self, position: u32, item: T) {
        self.slot(position).with_mut(|place| {
            // SAFETY: `place` is a slot of ours, so it's valid and aligned, and
            // only the owner, which is the caller, touches a free one.
            unsafe { place.write(MaybeUninit::new(item)) };
        });
    }
}

impl<T, const N: usize> Drop for Ring<T, N> {
    fn drop(&mut self) {
        let mut position = self.head().start();
        let tail = self.tail();
        while position != tail {
            // SAFETY: no other thread has the ring: this one reads each waiting item once, and
            // writes no more.
            drop(unsafe { self.read(position) });
            position = position.wrapping_add(1);
        }
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
        if self.free() == 0 {
            return Err(item);
        }
        let tail = self.ring.tail();
        // SAFETY: this is neither `Sync` nor `Clone`, so the thread that has it is the owner;
        // `free` has seen that a slot is free, and the one at the tail is the first.
        unsafe { self.ring.write(tail, item) };
        self.ring.set_tail(tail.wrapping_add(1));
        Ok(())
    }

    /// Puts an item at the end. If the queue is full, the younger half of it
    /// and the item go to `overflow`, one by one; if a thief is at work,
    /// perhaps the item alone.
    pub fn push_or_overflow(&self, item: T, mut overflow: impl FnMut(T)) {
        let mut item = item;
        loop {
            match self.push(item) {
                Ok(()) => return,
                Err(back) => item = back,
            }
            let head = self.ring.head();
            if head.claimed != 0 {
                // A thief is at work, and hasn't made room yet.
                overflow(item);
                return;
            }
            if self.ring.tail().wrapping_sub(head.position) as usize != N {
                // A thief has made room since.
                continue;
            }
            if let Some(younger) = self.take_younger_half(head) {
                younger.for_each(&mut overflow);
                overflow(item);
                return;
            }
        }
    }

    /// Takes the younger half out of a full queue. Returns `None` if `head` has changed.
    fn take_younger_half(&self, head: Head) -> Option<Batch<T, N>> {
        let ring = &*self.ring;
        let claimed = Head {
            claimed: OWNER,
            ..head
        };
        ring.exchange(head, claimed).ok()?;
        let mut batch = Batch::new();
        let end = ring.tail();
        let middle = end.wrapping_sub(N as u32 / 2);
        let mut position = middle;
        while position != end {
            // SAFETY: the compare-exchange has taken these items: no thief claims any before the
            // store below. Each is read once, and only we, the owner, write to the slots.
            batch.add(unsafe { ring.read(position) });
            position = position.wrapping_add(1);
        }
        ring.set_tail(middle);
        let at_rest = Head {
            version: head.version.wrapping_add(1),
            ..head
        };
        // Release: pairs with the Acquire in `head`; the tail that a thief then loads has moved
        // back. A store is enough: no other thread changes a head that is marked `OWNER`.
        ring.head.store(at_rest.pack(), Release);
        Some(batch)
    }

    /// Takes the oldest item.
    pub fn pop(&self) -> Option<T> {
        let tail = self.ring.tail();
        let mut head = self.ring.head();
        loop {
            let start = head.start();
            if start == tail {
                return None;
            }
            match self.ring.exchange(head, head.popped()) {
                // SAFETY: the compare-exchange has taken the item, once, and only we, the owner,
                // write to its slot.
                Ok(()) => return Some(unsafe { self.ring.read(start) }),
                // A thief has claimed items, or has given its slots back.
                Err(now) => head = now,
            }
        }
    }

    /// Returns how many items wait here, at most.
    pub fn len(&self) -> usize {
        let start = self.ring.head().start();
        self.ring.tail().wrapping_sub(start) as usize
    }

    /// Returns `true` if no item waits here.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many more items there is room for, at least.
    pub fn free(&self) -> usize {
        let position = self.ring.head().position;
        N - self.ring.tail().wrapping_sub(position) as usize
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
        if ptr::eq(ring, &*thief.ring) {
            return thief.pop();
        }
        let room = thief.free();
        let (first, count) = self.claim(room + 1)?;
        // SAFETY: the item is claimed, and read once; its owner doesn't write
        // there before `release`.
        let stolen = unsafe { ring.read(first) };
        let tail = thief.ring.tail();
        for ahead in 1..count {
            // SAFETY: as above.
            let item = unsafe { ring.read(first.wrapping_add(ahead)) };
            let position = tail.wrapping_add(ahead - 1);
            // SAFETY: `thief` is neither `Sync` nor `Clone`, so we are its owner; `free` has seen
            // that this many slots are free.
            unsafe { thief.ring.write(position, item) };
        }
        self.release();
        thief.ring.set_tail(tail.wrapping_add(count - 1));
        Some(stolen)
    }

    /// Claims half of the items that wait, rounded up, but at most `most`.
    /// Returns the first position and how many there are.
    fn claim(&self, most: usize) -> Option<(u32, u32)> {
        let ring = &*self.ring;
        let mut head = ring.head();
        loop {
            if head.claimed != 0 {
                return None;
            }
            // Acquire: pairs with the Release in `set_tail`; the items before
            // it are in their slots.
            let tail = ring.tail.load(Acquire);
            let waiting = tail.wrapping_sub(head.position) as usize;
            if waiting == 0 {
                return None;
            }
            let count = waiting.div_ceil(2).min(most);
            let claimed = Head {
                claimed: count as u16,
                ..head
            };
            match ring.exchange(head, claimed) {
                Ok(()) => return Some((head.position, count as u32)),
                // The owner or another thief was faster.
                Err(now) => head = now,
            }
        }
    }

    /// Gives the claimed slots back, after they have been read.
    fn release(&self) {
        let mut head = self.ring.head();
        while let Err(now) = self.ring.exchange(head, head.released()) {
            // The owner has popped.
            head = now;
        }
    }

    /// Returns `true` if no item waits there.
    pub fn is_empty(&self) -> bool {
        let start = self.ring.head().start();
        // Relaxed: only a number, and no older than `start`.
        start == self.ring.tail.load(Relaxed)
    }
}

impl<T, const N: usize> Clone for Stealer<T, N> {
    fn clone(&self) -> Self {
        Self {
            ring: self.ring.clone(),
        }
    }
}

/// The items of an overflow, moved out of their slots. Dropping it drops the items that it hasn't
/// given out.
struct Batch<T, const N: usize> {
    items: [MaybeUninit<T>; N],
    /// From here to `end` the items are initialized.
    next: usize,
    end: usize,
}

impl<T, const N: usize> Batch<T, N> {
    fn new() -> Self {
        Self {
            items: [const { MaybeUninit::uninit() }; N],
            next: 0,
            end: 0,
        }
    }

    fn add(&mut self, item: T) {
        self.items[self.end].write(item);
        self.end += 1;
    }
}

impl<T, const N: usize> Iterator for Batch<T, N> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        if self.next == self.end {
            return None;
        }
        let item = &self.items[self.next];
        self.next += 1;
        // SAFETY: `add` wrote the item, and `next` has moved past it, so it is
        // read once.
        Some(unsafe { item.assume_init_read() })
    }
}

impl<T, const N: usize> Drop for Batch<T, N> {
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
