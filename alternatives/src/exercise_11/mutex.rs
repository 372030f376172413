//! A `VecDeque` in a mutex, which a thief holds while it copies.
//!
//! Without others at work a lock costs one read-modify-write, as `pop` in the
//! solution does. It is the thief that is suspended while it holds the lock
//! that makes the owner wait.

use std::cell::Cell;
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::PoisonError;

use sync::{Arc, Mutex, MutexGuard};

type Items<T> = Arc<Mutex<VecDeque<T>>>;

/// Makes a queue of at most `N` items, a power of two.
pub fn run_queue<T, const N: usize>() -> (Local<T, N>, Stealer<T, N>) {
    run_queue_at(0)
}

/// Makes a queue whose first item is at `position`, for checks of what happens
/// at the end of the positions.
pub fn run_queue_at<T, const N: usize>(
    _position: u32,
) -> (Local<T, N>, Stealer<T, N>) {
    let local = Local {
        items: Arc::new(Mutex::new(VecDeque::with_capacity(N))),
        _not_sync: PhantomData,
    };
    let stealer = local.stealer();
    (local, stealer)
}

fn lock<T>(items: &Items<T>) -> MutexGuard<'_, VecDeque<T>> {
    items.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The owner's end.
pub struct Local<T, const N: usize> {
    items: Items<T>,
    _not_sync: PhantomData<Cell<()>>,
}

impl<T, const N: usize> Local<T, N> {
    /// Puts an item at the end.
    ///
    /// # Errors
    ///
    /// Gives the item back if the queue is full.
    pub fn push(&self, item: T) -> Result<(), T> {
        let mut items = lock(&self.items);
        if items.len() == N {
            return Err(item);
        }
        items.push_back(item);
        Ok(())
    }

    /// Puts an item at the end. If the queue is full, half of it and the item
    /// go to `overflow`, one by one.
    pub fn push_or_overflow(&self, item: T, mut overflow: impl FnMut(T)) {
        if let Err(item) = self.push(item) {
            for _ in 0..N / 2 {
                let oldest = lock(&self.items).pop_front();
                oldest.into_iter().for_each(&mut overflow);
            }
            overflow(item);
        }
    }

    /// Takes the oldest item.
    pub fn pop(&self) -> Option<T> {
        lock(&self.items).pop_front()
    }

    /// How many items wait here.
    pub fn len(&self) -> usize {
        lock(&self.items).len()
    }

    /// Returns `true` if no item waits here.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many more items find room.
    pub fn free(&self) -> usize {
        N - self.len()
    }

    /// Makes a thief's end of this queue.
    pub fn stealer(&self) -> Stealer<T, N> {
        Stealer {
            items: self.items.clone(),
        }
    }
}

/// A thief's end.
pub struct Stealer<T, const N: usize> {
    items: Items<T>,
}

impl<T, const N: usize> Stealer<T, N> {
    /// Moves half of the items, at most what fits, into the thief's queue, and
    /// returns one more.
    pub fn steal_into(&self, thief: &Local<T, N>) -> Option<T> {
        if Arc::ptr_eq(&self.items, &thief.items) {
            return thief.pop();
        }
        // The one at the lower address first, so that two thieves do not wait for each other.
        let (mut items, mut thiefs);
        if Arc::as_ptr(&self.items) < Arc::as_ptr(&thief.items) {
            items = lock(&self.items);
            thiefs = lock(&thief.items);
        } else {
            thiefs = lock(&thief.items);
            items = lock(&self.items);
        }
        let room = N - thiefs.len();
        let count = items.len().div_ceil(2).min(room + 1);
        let mut stolen = items.drain(..count);
        let first = stolen.next();
        thiefs.extend(stolen);
        first
    }

    /// Returns `true` if no item waits there.
    pub fn is_empty(&self) -> bool {
        lock(&self.items).is_empty()
    }
}

impl<T, const N: usize> Clone for Stealer<T, N> {
    fn clone(&self) -> Self {
        Self {
            items: self.items.clone(),
        }
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/11-run-queue/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/11-run-queue/src/tests.rs"]
mod tests;
