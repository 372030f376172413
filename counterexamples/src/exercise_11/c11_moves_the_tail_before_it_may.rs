//! Breaks clause 11: Counts.
//! Caught by: models::a_queue_that_overflows_does_not_seem_empty_after_a_steal
//! Order: a failure
//! Also fails: models::an_overflow_meets_the_steals_of_two_threads
//!
//! An overflow takes from the end: it moves the tail back, and then increments the version in the
//! head with one compare-exchange, so that a thief's older look fails. If that compare-exchange
//! fails, a thief was faster, and the tail goes back to where it was. Meanwhile the head and the
//! tail may be equal although there are items, or the head may be ahead.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use primitives::atomic::{AtomicU32, AtomicU64};
use primitives::{Arc, UnsafeCell};

/// How many bits of the head's word tell how many slots are being read.
const CLAIMED_BITS: u32 = 16;
/// Stored instead of that number: the owner is taking out the youngest items.
const OWNER: u16 = u16::MAX;

/// The word that the owner and the thieves change alternately.
#[derive(Clone, Copy)]
struct Head {
    /// The first slot that isn't free.
    position: u32,
    /// How many slots from there on are being read, or were popped behind those.
    claimed: u16,
    /// How often items were taken from the other end.
    version: u16,
}

impl Head {
    fn unpack(word: u64) -> Self {
        Self {
            position: (word >> 32) as u32,
            claimed: (word >> CLAIMED_BITS) as u16,
            version: word as u16,
        }
    }

    fn pack(self) -> u64 {
        u64::from(self.position) << 32
            | u64::from(self.claimed) << CLAIMED_BITS
            | u64::from(self.version)
    }

    /// The position of the oldest item.
    fn start(self) -> u32 {
        match self.claimed {
            OWNER => self.position,
            claimed => self.position.wrapping_add(u32::from(claimed)),
        }
    }

    fn popped(self) -> Self {
        if self.claimed == 0 {
            let position = self.position.wrapping_add(1);
            Self { position, ..self }
        } else {
            let claimed = self.claimed + 1;
            Self { claimed, ..self }
        }
    }

    fn released(self) -> Self {
        let position = self.start();
        Self {
            position,
            claimed: 0,
            ..self
        }
    }
}

struct Ring<T, const N: usize> {
    head: AtomicU64,
    /// Written by the owner only.
    tail: AtomicU32,
    slots: Box<[UnsafeCell<MaybeUninit<T>>]>,
}

// SAFETY: an item is moved from thread to thread, and never shared.
unsafe impl<T: Send, const N: usize> Send for Ring<T, N> {}
// SAFETY: as above.
unsafe impl<T: Send, const N: usize> Sync for Ring<T, N> {}

impl<T, const N: usize> Ring<T, N> {
    fn new(position: u32) -> Self {
        const {
            assert!(N.is_power_of_two() && N >= 2 && N <= 32_768);
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
        Head::unpack(self.head.load(Acquire))
    }

    /// Replaces the head, unless it has changed.
    fn exchange(&self, old: Head, new: Head) -> Result<(), Head> {
        self.head
            .compare_exchange(old.pack(), new.pack(), AcqRel, Acquire)
            .map(|_| ())
            .map_err(Head::unpack)
    }

    fn slot(&self, position: u32) -> &UnsafeCell<MaybeUninit<T>> {
        &self.slots[position as usize % N]
    }

    /// # Safety
    ///
    /// There must be an item, and it must be the caller's.
    unsafe fn read(&self, position: u32) -> T {
        // SAFETY: the caller has the slot, so no other thread writes to it.
        let item = self.slot(position).with(|slot| unsafe { slot.read() });
        // SAFETY: the caller ensures that there is an item.
        unsafe { item.assume_init() }
    }

    /// # Safety
    ///
    /// The slot must be free, and the caller must be the owner.
    unsafe fn write(&self, position: u32, item: T) {
        // SAFETY: the caller ensures it.
        self.slot(position)
            .with_mut(|slot| unsafe { (*slot).write(item) });
    }

    /// Takes the oldest item out.
    ///
    /// # Safety
    ///
    /// The caller must be the owner.
    unsafe fn pop(&self) -> Option<T> {
        let tail = self.tail.load(Relaxed);
        let mut head = self.head();
        loop {
            let start = head.start();
            if start == tail {
                return None;
            }
            match self.exchange(head, head.popped()) {
                // SAFETY: no other thread gets this position.
                Ok(()) => return Some(unsafe { self.read(start) }),
                Err(other) => head = other,
            }
        }
    }

    fn is_empty(&self) -> bool {
        let head = self.head();
        head.start() == self.tail.load(Acquire)
    }
}

impl<T, const N: usize> Drop for Ring<T, N> {
    fn drop(&mut self) {
        let mut position = self.head().start();
        let tail = self.tail.load(Relaxed);
        while position != tail {
            // SAFETY: no other thread is left, and each position occurs once.
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
    let ring = Arc::new(Ring::new(position));
    let stealer = Stealer { ring: ring.clone() };
    let local = Local {
        ring,
        _not_sync: PhantomData,
    };
    (local, stealer)
}

/// The owner's end.
pub struct Local<T, const N: usize> {
    ring: Arc<Ring<T, N>>,
    _not_sync: PhantomData<Cell<()>>,
}

/// The items on their way out, which are dropped with it.
struct Batch<T, const N: usize> {
    items: [MaybeUninit<T>; N],
    next: usize,
    end: usize,
}

impl<T, const N: usize> Iterator for Batch<T, N> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        if self.next == self.end {
            return None;
        }
        let place = self.next;
        self.next += 1;
        // SAFETY: it was written, and is read once.
        Some(unsafe { self.items[place].assume_init_read() })
    }
}

impl<T, const N: usize> Drop for Batch<T, N> {
    fn drop(&mut self) {
        for item in self {
            drop(item);
        }
    }
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
        let tail = self.ring.tail.load(Relaxed);
        // SAFETY: it is free, and a `Local` isn't shared.
        unsafe { self.ring.write(tail, item) };
        self.ring.tail.store(tail.wrapping_add(1), Release);
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
                overflow(item);
                return;
            }
            let tail = self.ring.tail.load(Relaxed);
            if tail.wrapping_sub(head.position) as usize != N {
                continue;
            }
            if let Some(batch) = self.take_youngest(head) {
                for one in batch {
                    overflow(one);
                }
                overflow(item);
                return;
            }
        }
    }

    /// Takes half of the items out of a full queue, if `head` is still its head.
    fn take_youngest(&self, head: Head) -> Option<Batch<T, N>> {
        let mut batch = Batch {
            items: [const { MaybeUninit::uninit() }; N],
            next: 0,
            end: 0,
        };
        let end = self.ring.tail.load(Relaxed);
        let tail = end.wrapping_sub(N as u32 / 2);
        self.ring.tail.store(tail, Release);
        let given_back = Head {
            version: head.version.wrapping_add(1),
            ..head
        };
        if self.ring.exchange(head, given_back).is_err() {
            self.ring.tail.store(end, Release);
            return None;
        }
        let mut position = tail;
        while position != end {
            // SAFETY: no thief claims anything meanwhile.
            batch.items[batch.end].write(unsafe { self.ring.read(position) });
            batch.end += 1;
            position = position.wrapping_add(1);
        }
        Some(batch)
    }

    /// Takes the oldest item.
    pub fn pop(&self) -> Option<T> {
        // SAFETY: a `Local` isn't shared.
        unsafe { self.ring.pop() }
    }

    /// Returns how many items wait here, at most.
    pub fn len(&self) -> usize {
        let tail = self.ring.tail.load(Relaxed);
        tail.wrapping_sub(self.ring.head().start()) as usize
    }

    /// Returns `true` if no item waits here.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many more items there is room for, at least.
    pub fn free(&self) -> usize {
        let tail = self.ring.tail.load(Relaxed);
        N - tail.wrapping_sub(self.ring.head().position) as usize
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
        let mut head = ring.head();
        let count = loop {
            if head.claimed != 0 {
                return None;
            }
            let tail = ring.tail.load(Acquire);
            let waiting = tail.wrapping_sub(head.position) as usize;
            if waiting == 0 {
                return None;
            }
            let count = waiting.div_ceil(2).min(room + 1);
            let claimed = Head {
                claimed: count as u16,
                ..head
            };
            match ring.exchange(head, claimed) {
                Ok(()) => break count as u32,
                Err(other) => head = other,
            }
        };
        let first = head.position;
        let tail = thief.ring.tail.load(Relaxed);
        // SAFETY: these items have been claimed.
        let stolen = unsafe { ring.read(first) };
        for number in 1..count {
            // SAFETY: as above.
            let item = unsafe { ring.read(first.wrapping_add(number)) };
            let position = tail.wrapping_add(number - 1);
            // SAFETY: there is room for this many.
            unsafe { thief.ring.write(position, item) };
        }
        let mut head = ring.head();
        while let Err(other) = ring.exchange(head, head.released()) {
            head = other;
        }
        thief.ring.tail.store(tail.wrapping_add(count - 1), Release);
        Some(stolen)
    }

    /// Returns `true` if no item waits there.
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }
}

impl<T, const N: usize> Clone for Stealer<T, N> {
    fn clone(&self) -> Self {
        Self {
            ring: self.ring.clone(),
        }
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/11-run-queue/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/11-run-queue/src/tests/mod.rs"]
mod tests;
