//! The FIFO queue of the crate st3: the same ring as in the solution, but with two whole positions
//! in one word, so that a thief needs a loop to finish.
//!
//! It can be drained only from the front, so an overflow takes all items for a moment. A thread
//! that looks just then sees an empty queue, which clause 11 forbids. None of the checks on threads
//! notices.

use std::array;

use st3::{StealError, fifo};

/// Makes a queue of at most `N` items, a power of two and not 1.
pub fn run_queue<T, const N: usize>() -> (Local<T, N>, Stealer<T, N>) {
    let local = Local(fifo::Worker::new(N));
    let stealer = local.stealer();
    (local, stealer)
}

/// The same queue, because st3's positions always start at 0.
pub fn run_queue_at<T, const N: usize>(
    _position: u32,
) -> (Local<T, N>, Stealer<T, N>) {
    run_queue()
}

/// The owner's end.
pub struct Local<T, const N: usize>(fifo::Worker<T>);

impl<T, const N: usize> Local<T, N> {
    /// Puts an item at the end.
    ///
    /// # Errors
    ///
    /// Gives the item back if the queue is full.
    pub fn push(&self, item: T) -> Result<(), T> {
        self.0.push(item)
    }

    /// Puts an item at the end. If the queue is full, the younger half of it
    /// and the item go to `overflow`, one by one; if a thief is at work, fewer.
    pub fn push_or_overflow(&self, item: T, mut overflow: impl FnMut(T)) {
        if let Err(item) = self.push(item) {
            // st3 drains only from the front, so we take all items, and push the older half again.
            let mut all = self.0.drain(|count| count).into_iter().flatten();
            let older: [_; N] =
                array::from_fn(|n| (n < N / 2).then(|| all.next()).flatten());
            let younger: [_; N] = array::from_fn(|_| all.next());
            drop(all);
            for item in older.into_iter().flatten() {
                // Only the owner fills it, and it has just been emptied.
                let Ok(()) = self.push(item) else {
                    unreachable!("a queue that was emptied is full")
                };
            }
            younger.into_iter().flatten().for_each(&mut overflow);
            overflow(item);
        }
    }

    /// Takes the oldest item.
    pub fn pop(&self) -> Option<T> {
        self.0.pop()
    }

    /// Returns how many items wait here, at most.
    pub fn len(&self) -> usize {
        N - self.free()
    }

    /// Returns `true` if no item waits here.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns how many more items there is room for, at least.
    pub fn free(&self) -> usize {
        self.0.spare_capacity()
    }

    /// Makes a thief's end of this queue.
    pub fn stealer(&self) -> Stealer<T, N> {
        Stealer {
            queue: self.0.stealer(),
        }
    }
}

/// A thief's end.
pub struct Stealer<T, const N: usize> {
    queue: fifo::Stealer<T>,
}

impl<T, const N: usize> Stealer<T, N> {
    /// Steals half of the items: returns one, and moves the others, no more than there is room for,
    /// into the thief's queue.
    pub fn steal_into(&self, thief: &Local<T, N>) -> Option<T> {
        let half = |count: usize| count.div_ceil(2);
        let stolen = self.queue.steal_and_pop(&thief.0, half);
        stolen.ok().map(|(item, _)| item)
    }

    /// Returns `true` if no item waits there.
    pub fn is_empty(&self) -> bool {
        // A thief of st3 learns how many items there are only when it is asked how many to take.
        let mut is_empty = true;
        let none = |_| {
            is_empty = false;
            0
        };
        let stolen = self.queue.steal(&fifo::Worker::new(1), none);
        is_empty && stolen != Err(StealError::Busy)
    }
}

impl<T, const N: usize> Clone for Stealer<T, N> {
    fn clone(&self) -> Self {
        Self {
            queue: self.queue.clone(),
        }
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/11-run-queue/src/tests/mod.rs"]
mod tests;
