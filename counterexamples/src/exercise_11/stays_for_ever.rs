//! Breaks clause 8: Dropped once.
//! Caught by: a_queue_leaves_no_memory_behind
//!
//! A worker lives as long as the program does, so its queue may, too: both ends
//! point to a ring that nobody frees, and the owner drops what is left in it.
//! Then somebody makes a runtime for each test, and wonders about the memory.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::Deref;

use claim::{Claim, ReleaseOnDrop};
use head::Head;
use ring::Ring;

/// Makes a queue of at most `N` items, a power of two and not 1.
pub fn run_queue<T, const N: usize>() -> (Local<T, N>, Stealer<T, N>) {
    run_queue_at(0)
}

/// Makes a queue whose first item is at `position`, for checks of what happens
/// at the end of the positions.
pub fn run_queue_at<T, const N: usize>(
    position: u32,
) -> (Local<T, N>, Stealer<T, N>) {
    let local = Local {
        ring: Shared::new(position),
        _not_sync: PhantomData,
    };
    let stealer = local.stealer();
    (local, stealer)
}

/// The owner's end.
pub struct Local<T, const N: usize> {
    ring: Shared<T, N>,
    /// Makes it `!Sync`: there is one owner, and one only.
    _not_sync: PhantomData<Cell<()>>,
}

impl<T, const N: usize> Local<T, N> {
    /// Puts an item at the end.
    ///
    /// # Errors
    ///
    /// Gives the item back if the queue is full.
    #[inline]
    pub fn push(&self, item: T) -> Result<(), T> {
        // SAFETY: this is neither `Sync` nor `Clone`, so the thread that has it
        // is the owner.
        unsafe { self.ring.push(item) }
    }

    /// Puts an item at the end. If the queue is full, the younger half of it
    /// and the item go to `overflow`, one by one; if a thief is at work,
    /// perhaps the item alone.
    #[inline]
    pub fn push_or_overflow(&self, item: T, overflow: impl FnMut(T)) {
        if let Err(item) = self.push(item) {
            self.overflow(item, overflow);
        }
    }

    #[cold]
    fn overflow(&self, item: T, mut overflow: impl FnMut(T)) {
        // As a claim: `overflow` may push, but not into the slots that are yet
        // to be read.
        // SAFETY: as in `push`.
        if let Some(claim) = unsafe { Claim::claim_newest_half(&self.ring) } {
            claim.for_each(&mut overflow);
            overflow(item);
        } else if let Err(item) = self.push(item) {
            // A thief is at work, and has not made room yet.
            overflow(item);
        }
    }

    /// Takes the oldest item.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        // SAFETY: as in `push`.
        unsafe { self.ring.pop() }
    }

    /// How many items wait here, at most.
    #[inline]
    pub fn len(&self) -> usize {
        self.ring.count()
    }

    /// Returns `true` if no item waits here.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many more items find room, at least.
    #[inline]
    pub fn free(&self) -> usize {
        self.ring.free()
    }

    /// Makes a thief's end of this queue.
    pub fn stealer(&self) -> Stealer<T, N> {
        Stealer { ring: self.ring }
    }
}

impl<T, const N: usize> Drop for Local<T, N> {
    fn drop(&mut self) {
        while let Some(item) = self.pop() {
            drop(item);
        }
    }
}

/// A ring that both ends point to, for as long as the program runs.
struct Shared<T, const N: usize>(*const Ring<T, N>);

// SAFETY: it is a reference, and a ring can be shared if its items are `Send`.
unsafe impl<T: Send, const N: usize> Send for Shared<T, N> {}
// SAFETY: as above.
unsafe impl<T: Send, const N: usize> Sync for Shared<T, N> {}

impl<T, const N: usize> Shared<T, N> {
    fn new(position: u32) -> Self {
        Self(Box::into_raw(Box::new(Ring::new(position))))
    }
}

impl<T, const N: usize> Copy for Shared<T, N> {}

impl<T, const N: usize> Clone for Shared<T, N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const N: usize> Deref for Shared<T, N> {
    type Target = Ring<T, N>;

    fn deref(&self) -> &Ring<T, N> {
        // SAFETY: nobody frees it.
        unsafe { &*self.0 }
    }
}

/// A thief's end.
pub struct Stealer<T, const N: usize> {
    ring: Shared<T, N>,
}

impl<T, const N: usize> Stealer<T, N> {
    /// Moves half of the items, at most what fits, into the thief's queue, and
    /// returns one more.
    pub fn steal_into(&self, thief: &Local<T, N>) -> Option<T> {
        let mut claim = Claim::new(&self.ring, thief.free() + 1)?;
        let first = claim.next();
        for item in claim {
            // Only its owner pushes there, which is us: what was free is free.
            let Ok(()) = thief.push(item) else {
                unreachable!("the thief's queue has lost its room");
            };
        }
        first
    }

    /// Returns `true` if no item waits there.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ring.count() == 0
    }
}

impl<T, const N: usize> Clone for Stealer<T, N> {
    fn clone(&self) -> Self {
        Self { ring: self.ring }
    }
}

// The other parts are those of the solution.
#[path = "../../../solutions/11-run-queue/src/claim.rs"]
mod claim;
#[path = "../../../solutions/11-run-queue/src/head.rs"]
mod head;
#[path = "../../../solutions/11-run-queue/src/overflow.rs"]
mod overflow;
#[path = "../../../solutions/11-run-queue/src/ring.rs"]
mod ring;

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/11-run-queue/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/11-run-queue/src/tests/mod.rs"]
mod tests;
