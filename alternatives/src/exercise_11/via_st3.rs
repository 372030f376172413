//! The FIFO queue of st3, a crate of its own: the same ring as the solution's,
//! with two whole positions in one word, so that a thief that ends needs a
//! loop.
//!
//! It can be drained from the front only. So an overflow takes all for a moment,
//! and whoever looks then is told that the queue is empty, which clause 11
//! forbids. No check on threads sees it.

use std::array;

use st3::{StealError, fifo};

/// Makes a queue of at most `N` items, a power of two and not 1.
pub fn run_queue<T, const N: usize>() -> (Local<T, N>, Stealer<T, N>) {
    let local = Local(fifo::Worker::new(N));
    let stealer = local.stealer();
    (local, stealer)
}

/// The same: the positions of st3 start at 0.
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
            // One can drain from the front only: all, then, and the older half
            // is pushed again.
            let mut all = self.0.drain(|count| count).into_iter().flatten();
            let older: [_; N] =
                array::from_fn(|n| (n < N / 2).then(|| all.next()).flatten());
            let younger: [_; N] = array::from_fn(|_| all.next());
            drop(all);
            for item in older.into_iter().flatten() {
                // Only the owner fills it, and it has been emptied.
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

    /// How many items wait here, at most.
    pub fn len(&self) -> usize {
        N - self.free()
    }

    /// Returns `true` if no item waits here.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many more items find room, at least.
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
    /// Moves half of the items, at most what fits, into the thief's queue, and
    /// returns one more.
    pub fn steal_into(&self, thief: &Local<T, N>) -> Option<T> {
        let half = |count: usize| count.div_ceil(2);
        let stolen = self.queue.steal_and_pop(&thief.0, half);
        stolen.ok().map(|(item, _)| item)
    }

    /// Returns `true` if no item waits there.
    pub fn is_empty(&self) -> bool {
        // A thief of st3 sees how many there are only when it is asked how many to take.
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
