//! A `VecDeque` in a spin lock that is a flag: taken by a `swap`, given back by
//! a store.
//!
//! The mutex of `mutex` costs as much while no threads contend for it. Under contention this lock
//! is worse: it has no queue, and spins even while the thread that holds it is suspended.

use std::array;
use std::cell::Cell;
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::atomic::AtomicU64;

use primitives::atomic::{AtomicBool, Ordering};
use primitives::{Arc, UnsafeCell, hint};

use Ordering::{Acquire, Relaxed, Release};

/// What both ends share.
struct Shared<T> {
    items: SpinLock<VecDeque<T>>,
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
            items: SpinLock::new(VecDeque::with_capacity(N)),
            // Relaxed: each queue only needs a different number.
            number: QUEUES.fetch_add(1, Relaxed),
        }),
        _not_sync: PhantomData,
    };
    let stealer = local.stealer();
    (local, stealer)
}

/// A value that one thread at a time can reach.
struct SpinLock<T> {
    is_locked: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `with` gives the value to one thread at a time.
unsafe impl<T: Send> Sync for SpinLock<T> {}

impl<T> SpinLock<T> {
    fn new(value: T) -> Self {
        Self {
            is_locked: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// Calls `f`, which must not panic, while no other thread is in here.
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        // Acquire: pairs with the store below; sees what was done under the lock.
        while self.is_locked.swap(true, Acquire) {
            hint::spin_loop();
        }
        let result = self.value.with_mut(|value| {
            // SAFETY: this thread has set the flag, and no other thread gets past it before it is
            // cleared.
            f(unsafe { &mut *value })
        });
        // Release: publishes what `f` did to the thread that next takes the lock.
        self.is_locked.store(false, Release);
        result
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
        self.shared.items.with(|items| {
            if items.len() == N {
                return Err(item);
            }
            items.push_back(item);
            Ok(())
        })
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
        self.shared.items.with(|items| {
            let older = items.len().min(N / 2);
            let mut younger = items.drain(older..);
            array::from_fn(|_| younger.next())
        })
    }

    /// Takes the oldest item.
    pub fn pop(&self) -> Option<T> {
        self.shared.items.with(VecDeque::pop_front)
    }

    /// Returns how many items wait here.
    pub fn len(&self) -> usize {
        self.shared.items.with(|items| items.len())
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
    /// Steals half of the items: returns one, and moves the others, no more than there is room for,
    /// into the thief's queue.
    pub fn steal_into(&self, thief: &Local<T, N>) -> Option<T> {
        if Arc::ptr_eq(&self.shared, &thief.shared) {
            return thief.pop();
        }
        let (victims, thiefs) = (&self.shared.items, &thief.shared.items);
        if self.shared.number < thief.shared.number {
            victims.with(|items| thiefs.with(|own| steal::<_, N>(items, own)))
        } else {
            thiefs.with(|own| victims.with(|items| steal::<_, N>(items, own)))
        }
    }

    /// Returns `true` if no item waits there.
    pub fn is_empty(&self) -> bool {
        self.shared.items.with(|items| items.is_empty())
    }
}

fn steal<T, const N: usize>(
    items: &mut VecDeque<T>,
    own: &mut VecDeque<T>,
) -> Option<T> {
    let room = N - own.len();
    let count = items.len().div_ceil(2).min(room + 1);
    let mut stolen = items.drain(..count);
    let first = stolen.next();
    own.extend(stolen);
    first
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
