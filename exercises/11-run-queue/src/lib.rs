//! Exercise 11: a bounded run queue with one owner and many thieves.
//!
//! The chapter is `src/scheduler/run-queue.md`. Check your version with
//! `cargo test -p exercise-11`, and then have every interleaving tried:
//! `cargo test -p exercise-11 --features loom --release`.
//!
//! Import from `primitives` what you would import from `std::sync` and
//! `std::cell`: there are `primitives::{Arc, UnsafeCell}` and
//! `primitives::atomic`. You access an [`UnsafeCell`](primitives::UnsafeCell)
//! of `primitives` through `with` and `with_mut`, so that a model sees each
//! read and each write.
//!
//! # Contract
//!
//! 1. **Exactly once.** Every item that was pushed comes out once, no matter
//!    which threads pop, steal and overflow at the same time.
//! 2. **Owner order.** The owner pops the items in the order in which they
//!    were pushed.
//! 3. **Full means full.** The queue holds `N` items. With `N` in it, `push`
//!    gives the item back; a slot is free again once its item is out and no
//!    thief or overflow is at work.
//! 4. **Wrap-around.** Positions have 32 bits and wrap. [`run_queue_at`] starts
//!    at any position, and nothing else changes.
//! 5. **Half.** A steal takes the oldest items: at least one, at most half of
//!    those that it finds, rounded up, and at least a quarter if the thief has
//!    room. It returns one and puts the others into the thief's queue, in their
//!    order. It may fail if the queue is empty, if another thread or an
//!    overflow is at work on it (the owner's pop included), or if the thief's
//!    own queue is more than half full.
//! 6. **Room.** A steal takes no more items than there is room for in the
//!    thief's queue, plus the one that it returns. A slot of that queue that
//!    another thief, or an overflow, still reads isn't room. A steal that fails
//!    leaves nothing behind. A thief may steal from itself: no item is lost or
//!    duplicated, but their order and how many it takes are unspecified.
//! 7. **Overflow.** `push_or_overflow` pushes if there is room. If not, the
//!    youngest items, `N / 4` to `N / 2` of them, and the new item go to
//!    `overflow` one by one; if a thief or another overflow is at work, it may
//!    be the new item alone. `overflow` may use the queue. If it panics, the
//!    items that were on their way are dropped.
//! 8. **Dropped once.** An item that is never taken is dropped once, when the
//!    owner and all stealers are gone. A stealer may outlive the owner.
//! 9. **Published.** A thread that gets an item sees what was written before it
//!    was pushed. No slot is overwritten while a thread reads it.
//! 10. **One owner.** A [`Local`] may move to another thread; it can be neither
//!     shared nor cloned. A [`Stealer`] can be cloned, sent and shared,
//!     for any type of items that may be sent.
//! 11. **Counts.** `len`, `is_empty` and `free` are exact while no other thread
//!     is at work. While others are at work, `free` promises room, `len` is at
//!     most `N`, and a queue that always has an item in it never says that it
//!     is empty.
//! 12. **Cheap.** A push, a pop, a steal and an overflow don't allocate. While
//!     no other thread is at work, a push or a pop makes at most one atomic
//!     read-modify-write, and a steal at most four, however many items it
//!     takes. Locking and unlocking a mutex count as one.
//!
//! # Examples
//!
//! ```no_run
//! let (queue, stealer) = exercise_11::run_queue::<_, 4>();
//! for item in 1..=4 {
//!     queue.push(item).unwrap();
//! }
//! assert_eq!(queue.push(5), Err(5));
//! assert_eq!(queue.pop(), Some(1));
//!
//! let (thief, _) = exercise_11::run_queue();
//! assert_eq!(stealer.steal_into(&thief), Some(2));
//! assert_eq!((thief.pop(), queue.pop()), (Some(3), Some(4)));
//! ```

#[cfg(all(test, feature = "loom"))]
mod models;
#[cfg(all(test, not(feature = "loom")))]
mod tests;

use std::marker::PhantomData;

/// Makes a queue of at most `N` items, a power of two from 2 to 32,768. (Its
/// slots may be made on the stack before they are moved to the heap.)
pub fn run_queue<T, const N: usize>() -> (Local<T, N>, Stealer<T, N>) {
    todo!("make what the owner and the thieves share")
}

/// Makes a queue whose first item is at `position`, for checks of what happens
/// at the end of the positions.
pub fn run_queue_at<T, const N: usize>(
    position: u32,
) -> (Local<T, N>, Stealer<T, N>) {
    let _ = position;
    todo!("like `run_queue`, but start there")
}

/// The owner's end.
#[derive(Clone)]
pub struct Local<T, const N: usize> {
    _items: PhantomData<fn(T)>,
}

impl<T, const N: usize> Local<T, N> {
    /// Puts an item at the end.
    ///
    /// # Errors
    ///
    /// Gives the item back if the queue is full.
    pub fn push(&self, item: T) -> Result<(), T> {
        drop(item);
        todo!("write the item into the next free slot, then announce it")
    }

    /// Puts an item at the end. If the queue is full, the younger half of it
    /// and the item go to `overflow`, one by one; if a thief is at work,
    /// perhaps the item alone.
    pub fn push_or_overflow(&self, item: T, overflow: impl FnMut(T)) {
        drop((item, overflow));
        todo!("push; if that fails, take the younger half out")
    }

    /// Takes the oldest item.
    pub fn pop(&self) -> Option<T> {
        todo!("take the oldest item, unless a thief takes it first")
    }

    /// Returns how many items wait here, at most.
    pub fn len(&self) -> usize {
        todo!("the difference of two positions")
    }

    /// Returns `true` if no item waits here.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many more items there is room for, at least.
    pub fn free(&self) -> usize {
        todo!(
            "all slots except those with an item and those that are being read"
        )
    }

    /// Makes a thief's end of this queue.
    pub fn stealer(&self) -> Stealer<T, N> {
        todo!("share what the owner has")
    }
}

/// A thief's end.
pub struct Stealer<T, const N: usize> {
    _items: PhantomData<fn(T)>,
}

impl<T, const N: usize> Stealer<T, N> {
    /// Steals half of the items: returns one, and moves the others, no more
    /// than there is room for, into the thief's queue.
    pub fn steal_into(&self, thief: &Local<T, N>) -> Option<T> {
        let _ = thief;
        todo!("claim the oldest half; copy it; give the slots back")
    }

    /// Returns `true` if no item waits there.
    pub fn is_empty(&self) -> bool {
        todo!("compare two positions")
    }
}

impl<T, const N: usize> Clone for Stealer<T, N> {
    fn clone(&self) -> Self {
        todo!("share what the other stealer has")
    }
}
