//! Two words for two questions: which item is next, and from where on a thread is copying. The
//! owner and the thieves move `next`, and `claimed_from` is the thieves' lock.
//!
//! As a result, a steal takes two compare-exchanges, and the owner loads one more word.

use std::mem::MaybeUninit;

use primitives::UnsafeCell;
use primitives::atomic::{AtomicU32, AtomicU64, Ordering};

use Ordering::{Acquire, Relaxed, Release};

pub use handles::{Local, Stealer, run_queue, run_queue_at};

/// In `claimed_from`: no thread is copying.
const NO_CLAIM: u64 = u64::MAX;

/// A ring of `N` slots: the item at position `p` is in slot `p % N`.
///
/// *Memory ordering.* `tail` publishes the items, from `push` to `Claim::new`. `claimed_from` says
/// that slots have been read, from `ReleaseOnDrop::drop` to `push`. `next` publishes a claim: an
/// owner that sees the claim sees `claimed_from` as it was set before it, or later.
pub struct Ring<T, const N: usize> {
    next: AtomicU32,
    /// The position from which on a thread is copying, or [`NO_CLAIM`].
    claimed_from: AtomicU64,
    tail: AtomicU32,
    /// The owner's own: all slots before this position have been free once, and a claim never moves
    /// back. `claimed_from` may move back, since a thief sets it before it claims.
    free_before: AtomicU32,
    slots: [UnsafeCell<MaybeUninit<T>>; N],
}

// SAFETY: an item goes to another thread by being taken there, so it must be `Send`; no thread gets
// a reference to it.
unsafe impl<T: Send, const N: usize> Sync for Ring<T, N> {}

impl<T, const N: usize> Ring<T, N> {
    const CAPACITY: u32 = {
        assert!(N.is_power_of_two() && N <= 1 << 30);
        N as u32
    };

    /// Makes an empty ring.
    pub fn new(position: u32) -> Self {
        Self {
            next: AtomicU32::new(position),
            claimed_from: AtomicU64::new(NO_CLAIM),
            tail: AtomicU32::new(position),
            free_before: AtomicU32::new(position),
            slots: std::array::from_fn(|_| {
                UnsafeCell::new(MaybeUninit::uninit())
            }),
        }
    }

    /// Returns how many slots hold neither a waiting nor a claimed item.
    fn room(&self) -> u32 {
        // Acquire: pairs with the Release in `Claim::new`; shows who has claimed the items before
        // it.
        let next = self.next.load(Acquire);
        // Acquire: pairs with the Release in `ReleaseOnDrop::drop`; the claimed slots have been
        // read.
        let start = match self.claimed_from.load(Acquire) {
            NO_CLAIM => next,
            claimed_from => claimed_from as u32,
        };
        // Relaxed: the owner's own, both.
        let before = self.free_before.load(Relaxed);
        let start = before.wrapping_add(waiting(before, start));
        self.free_before.store(start, Relaxed);
        // Relaxed: the owner's own.
        let tail = self.tail.load(Relaxed);
        Self::CAPACITY - tail.wrapping_sub(start)
    }

    /// Returns how many items the owner can push before anything else happens.
    pub fn free(&self) -> usize {
        self.room() as usize
    }

    /// Puts an item at the end, or gives it back if there is no room.
    ///
    /// # Safety
    ///
    /// The caller must be the owner.
    pub unsafe fn push(&self, item: T) -> Result<(), T> {
        if self.room() == 0 {
            return Err(item);
        }
        // Relaxed: the owner's own.
        let tail = self.tail.load(Relaxed);
        self.slot(tail).with_mut(|slot| {
            // SAFETY: the slot is neither waiting nor claimed, and the caller is the owner.
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
    /// The caller must be the owner.
    pub unsafe fn pop(&self) -> Option<T> {
        // Relaxed: the owner's own, and so are the items before it.
        let tail = self.tail.load(Relaxed);
        // Relaxed: if it is old, the compare-exchange fails.
        let mut next = self.next.load(Relaxed);
        loop {
            if next == tail {
                return None;
            }
            // Release: pairs with the Acquire in `count`. As an RMW it also continues the release
            // sequence of a thief's compare-exchange.
            match self.next.compare_exchange_weak(
                next,
                next.wrapping_add(1),
                Release,
                Relaxed,
            ) {
                // SAFETY: the compare-exchange has taken the item.
                Ok(_) => return Some(unsafe { self.read(next) }),
                Err(now) => next = now,
            }
        }
    }

    /// Returns how many items wait, at most.
    pub fn count(&self) -> usize {
        // Acquire: pairs with the Release of each compare-exchange; the tail is no older than this.
        let next = self.next.load(Acquire);
        // Relaxed: a count is out of date anyway.
        let tail = self.tail.load(Relaxed);
        waiting(next, tail).min(Self::CAPACITY) as usize
    }

    /// Copies the item at `position` out of its slot.
    ///
    /// # Safety
    ///
    /// The caller must have taken the item, and must not read it twice.
    unsafe fn read(&self, position: u32) -> T {
        self.slot(position).with(|slot| {
            // SAFETY: while an item is taken or waits, no thread writes to its slot.
            let slot = unsafe { &*slot };
            // SAFETY: it was written when it was pushed, and only the caller has taken it.
            unsafe { slot.assume_init_read() }
        })
    }

    fn slot(&self, position: u32) -> &UnsafeCell<MaybeUninit<T>> {
        &self.slots[(position & (Self::CAPACITY - 1)) as usize]
    }
}

/// Returns the distance from `next` to `tail`, or 0 if the tail is older.
fn waiting(next: u32, tail: u32) -> u32 {
    (tail.wrapping_sub(next) as i32).max(0) as u32
}

impl<T, const N: usize> Drop for Ring<T, N> {
    fn drop(&mut self) {
        // SAFETY: no other thread has the ring anymore.
        while let Some(item) = unsafe { self.pop() } {
            drop(item);
        }
    }
}

/// Claimed items of a ring, some of which may not have been read yet.
pub struct Claim<'a, T, const N: usize> {
    next: u32,
    end: u32,
    release: ReleaseOnDrop<'a, T, N>,
}

impl<'a, T, const N: usize> Claim<'a, T, N> {
    /// Claims half of the items that wait, rounded up, but at most `most`.
    pub fn new(ring: &'a Ring<T, N>, most: usize) -> Option<Self> {
        // Relaxed: if it is old, more slots than necessary are claimed, and the compare-exchange of
        // `next` fails.
        let mut next = ring.next.load(Relaxed);
        // Acquire: pairs with the Release in `ReleaseOnDrop::drop`. The owner, which will see our
        // claim, therefore also comes after the thieves that copied before us.
        // Relaxed if it fails: in that case nothing has happened.
        ring.claimed_from
            .compare_exchange(NO_CLAIM, u64::from(next), Acquire, Relaxed)
            .ok()?;
        let release = ReleaseOnDrop { ring };
        loop {
            // Acquire: pairs with the Release in `push`; the items before `tail` are in their slots.
            let tail = ring.tail.load(Acquire);
            let count = waiting(next, tail).div_ceil(2).min(most as u32);
            if count == 0 {
                return None;
            }
            let end = next.wrapping_add(count);
            // Release: pairs with the Acquire in `room`; publishes `claimed_from`.
            match ring.next.compare_exchange_weak(next, end, Release, Relaxed) {
                Ok(_) => return Some(Self { next, end, release }),
                // The owner has popped. Claiming from an earlier position claims too much, which
                // does no harm.
                Err(now) => next = now,
            }
        }
    }
}

impl<'a, T, const N: usize> Claim<'a, T, N> {
    /// Claims the younger half of a full ring, which keeps the older half.
    ///
    /// # Safety
    ///
    /// The caller must be the owner.
    pub unsafe fn claim_newest_half(ring: &'a Ring<T, N>) -> Option<Self> {
        let capacity = Ring::<T, N>::CAPACITY;
        let half = capacity / 2;
        // Relaxed: the owner's own.
        let tail = ring.tail.load(Relaxed);
        let middle = tail.wrapping_sub(half);
        // Acquire: as in `new`. Relaxed if it fails: in that case nothing has happened.
        ring.claimed_from
            .compare_exchange(NO_CLAIM, u64::from(middle), Acquire, Relaxed)
            .ok()?;
        let release = ReleaseOnDrop { ring };
        // Release: pairs with the Acquire in `count`; the tail is no older.
        // Relaxed if it fails: in that case `release` gives back slots that no thread has read.
        ring.next
            .compare_exchange(
                tail.wrapping_sub(capacity),
                middle,
                Release,
                Relaxed,
            )
            .ok()?;
        // The older half waits a second time, at the end: its slots are the same there.
        // Release: pairs with the Acquire in `new`, for the items.
        ring.tail.store(tail.wrapping_add(half), Release);
        // Release: as above.
        ring.next.swap(tail, Release);
        // A thief may still have stored `next` as it was before in `claimed_from`, and that is now
        // more than `N` before the tail.
        // Relaxed: the owner's own.
        ring.free_before.store(middle, Relaxed);
        Some(Self {
            next: middle,
            end: tail,
            release,
        })
    }
}

impl<T, const N: usize> Iterator for Claim<'_, T, N> {
    type Item = T;

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

/// Gives the claimed slots back.
struct ReleaseOnDrop<'a, T, const N: usize> {
    ring: &'a Ring<T, N>,
}

impl<T, const N: usize> Drop for ReleaseOnDrop<'_, T, N> {
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `room`; the slots have been read.
        self.ring.claimed_from.store(NO_CLAIM, Release);
    }
}

#[path = "../../../solutions/11-run-queue/src/handles.rs"]
mod handles;
#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/11-run-queue/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/11-run-queue/src/tests/mod.rs"]
mod tests;
