//! A `VecDeque` in a mutex, which a thief holds while it copies.
//!
//! The contract counts locking and unlocking as one RMW, like `pop` in the
//! solution. The owner has to wait only if a thief is suspended while it holds
//! the lock.

use std::array;
use std::cell::Cell;
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use primitives::{Arc, Mutex, MutexGuard};

/// What both ends share.
struct Shared<T> {
    items: Mutex<VecDeque<T>>,
    /// A thread that takes two locks takes the one with the lower number first.
    number: u64,
}

/// How many queues have been made.
static QUEUES: AtomicU64 = AtomicU64::new(0);

/// Makes a queue of at most `N` items, a power of two and not 1.
pub fn run_queue<T, const N: usize>() -> (Local<T, N>, Stealer<T, N>) {
    run_queue_at(0)
}

/// Makes a queue whose first item is at `position`, for checks of what happens
/// at the end of the positions.
pub fn run_queue_at<T, const N: usize>(
    _position: u32,
) -> (Local<T, N>, Stealer<T, N>) {
    let local = Local {
        shared: Arc::new(Shared {
            items: Mutex::new(VecDeque::with_capacity(N)),
            // Relaxed: each queue only needs a different number.
            number: QUEUES.fetch_add(1, Relaxed),
        }),
        _not_sync: PhantomData,
    };
    let stealer = local.stealer();
    (local, stealer)
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, VecDeque<T>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The owner's end.
pub struct Local<T, const N: usize> {
    shared: Arc<Shared<T>>,
    _not_sync: PhantomData<Cell<()>>,
}

impl<T, const N: usize> Local<T, N> {
    /// Puts an item at the end.
    ///
    /// # Errors
    ///
    /// Gives the item back if the queue is full.
    pub fn push(&self, item: T) -> Result<(), T> {
        let mut items = self.shared.lock();
        if items.len() == N {
            return Err(item);
        }
        items.push_back(item);
        Ok(())
    }

    /// Puts an item at the end. If the queue is full, the younger half of it
    /// and the item go to `overflow`, one by one.
    pub fn push_or_overflow(&self, item: T, mut overflow: impl FnMut(T)) {
        if let Err(item) = self.push(item) {
            let younger = self.take_younger();
            younger.into_iter().flatten().for_each(&mut overflow);
            overflow(item);
        }
    }

    /// Takes out all but the older half, before any foreign code is called.
    fn take_younger(&self) -> [Option<T>; N] {
        let mut items = self.shared.lock();
        let older = items.len().min(N / 2);
        let mut younger = items.drain(older..);
        array::from_fn(|_| younger.next())
    }

    /// Takes the oldest item.
    pub fn pop(&self) -> Option<T> {
        self.shared.lock().pop_front()
    }

    /// Returns how many items wait here.
    pub fn len(&self) -> usize {
        self.shared.lock().len()
    }

    /// Returns `true` if no item waits here.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many more items there is room for.
    pub fn free(&self) -> usize {
        N - self.len()
    }

    /// Makes a thief's end of this queue.
    pub fn stealer(&self) -> Stealer<T, N> {
        Stealer {
            shared: self.shared.clone(),
        }
    }
}

/// A thief's end.
pub struct Stealer<T, const N: usize> {
    shared: Arc<Shared<T>>,
}

impl<T, const N: usize> Stealer<T, N> {
    /// Steals half of the items, but no more than there is room for in the
    /// thief's queue: returns one, and moves the others there.
    pub fn steal_into(&self, thief: &Local<T, N>) -> Option<T> {
        if Arc::ptr_eq(&self.shared, &thief.shared) {
            return thief.pop();
        }
        let (mut items, mut thiefs);
        if self.shared.number < thief.shared.number {
            items = self.shared.lock();
            thiefs = thief.shared.lock();
        } else {
            thiefs = thief.shared.lock();
            items = self.shared.lock();
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
        self.shared.lock().is_empty()
    }
}

impl<T, const N: usize> Clone for Stealer<T, N> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
        }
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/11-run-queue/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/11-run-queue/src/tests/mod.rs"]
mod tests;
