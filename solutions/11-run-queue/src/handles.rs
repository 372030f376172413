//! The two ends of a run queue.

use std::cell::Cell;
use std::marker::PhantomData;

use primitives::Arc;

use super::{Claim, Ring};

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
        // Like a claim: `overflow` may push, but not into the slots that are
        // yet to be read.
        // SAFETY: as in `push`.
        if let Some(claim) = unsafe { Claim::claim_newest_half(&self.ring) } {
            claim.for_each(&mut overflow);
            overflow(item);
        } else if let Err(item) = self.push(item) {
            // A thief is at work, and hasn't made room yet.
            overflow(item);
        }
    }

    /// Takes the oldest item.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        // SAFETY: as in `push`.
        unsafe { self.ring.pop() }
    }

    /// Returns how many items wait here, at most.
    #[inline]
    pub fn len(&self) -> usize {
        self.ring.count()
    }

    /// Returns `true` if no item waits here.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many more items there is room for, at least.
    #[inline]
    pub fn free(&self) -> usize {
        self.ring.free()
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
    /// Steals half of the items: returns one, and moves the others, no more
    /// than there is room for, into the thief's queue.
    pub fn steal_into(&self, thief: &Local<T, N>) -> Option<T> {
        let mut claim = Claim::new(&self.ring, thief.free() + 1)?;
        let first = claim.next();
        for item in claim {
            // Only its owner pushes there, and that's us: what was free stays
            // free.
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
        Self {
            ring: self.ring.clone(),
        }
    }
}
