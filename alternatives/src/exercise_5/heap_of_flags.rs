//! Another correct design: a binary heap, from which only the first entry can
//! be taken. A dropped sleep is only marked, in what it shares with the heap.
//! When more than half of the entries are marked, the heap is rebuilt without
//! them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use primitives::{Arc, Mutex, MutexGuard};

use super::{Unpark, call};

/// All sleeps that wait, and until when.
pub struct Timers {
    shared: Arc<Shared>,
}

struct Shared {
    unpark: Unpark,
    heap: Mutex<Heap>,
}

#[derive(Default)]
struct Heap {
    entries: BinaryHeap<Entry>,
    dropped_count: usize,
    /// When the driver looks again: `None` if it has to be unparked.
    looks_at: Option<Instant>,
}

/// What a sleep and its entry share.
type Slot = Arc<Mutex<Stage>>;

enum Stage {
    Waiting(Waker),
    Fired,
    Dropped,
}

struct Entry {
    deadline: Reverse<Instant>,
    slot: Slot,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.deadline == other.deadline
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.deadline.cmp(&other.deadline)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Timers {
    /// Creates timers for which no sleep waits.
    pub fn new(unpark: impl Fn() + Send + Sync + 'static) -> Self {
        let unpark = Box::new(unpark);
        let heap = Mutex::default();
        Self {
            shared: Arc::new(Shared { unpark, heap }),
        }
    }

    /// Creates a sleep that ends when `deadline` or a later time is passed to
    /// [`fire`](Self::fire).
    pub fn sleep_until(&self, deadline: Instant) -> Sleep {
        self.sleep(Some(deadline))
    }

    fn sleep(&self, deadline: Option<Instant>) -> Sleep {
        Sleep {
            shared: self.shared.clone(),
            deadline,
            slot: None,
        }
    }

    /// Wakes all sleeps that are due at `now`, and returns when to call it
    /// again.
    pub fn fire(&self, now: Instant) -> Option<Instant> {
        loop {
            let mut heap = lock(&self.shared.heap);
            let Some(first) = heap.entries.peek() else {
                heap.looks_at = None;
                return None;
            };
            let deadline = first.deadline.0;
            let is_dropped = matches!(*lock(&first.slot), Stage::Dropped);
            if deadline > now && !is_dropped {
                heap.looks_at = Some(deadline);
                return Some(deadline);
            }
            let first = heap.entries.pop().expect("just looked at");
            let stage = mem::replace(&mut *lock(&first.slot), Stage::Fired);
            match stage {
                Stage::Waiting(waker) => {
                    drop(heap);
                    call(waker);
                }
                _ => heap.dropped_count -= 1,
            }
        }
    }
}

/// A future that is ready once its deadline has come.
pub struct Sleep {
    shared: Arc<Shared>,
    deadline: Option<Instant>,
    slot: Option<Slot>,
}

impl Sleep {
    /// When the sleep ends; `None` if never.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn begin(&mut self, deadline: Instant, waker: Waker) {
        let slot = Slot::new(Mutex::new(Stage::Waiting(waker)));
        self.slot = Some(slot.clone());
        let deadline = Reverse(deadline);
        let mut heap = lock(&self.shared.heap);
        heap.entries.push(Entry { deadline, slot });
        let must_unpark = heap.looks_at.is_none_or(|at| deadline.0 < at);
        if must_unpark {
            heap.looks_at = Some(deadline.0);
            drop(heap);
            (self.shared.unpark)();
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(deadline) = self.deadline else {
            return Poll::Pending;
        };
        let mut waker = cx.waker().clone();
        let Some(slot) = &self.slot else {
            self.begin(deadline, waker);
            return Poll::Pending;
        };
        let mut stage = lock(slot);
        let Stage::Waiting(kept) = &mut *stage else {
            return Poll::Ready(());
        };
        mem::swap(kept, &mut waker);
        drop(stage);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        let Some(slot) = &self.slot else { return };
        let mut heap = lock(&self.shared.heap);
        let stage = mem::replace(&mut *lock(slot), Stage::Dropped);
        if matches!(stage, Stage::Waiting(_)) {
            heap.dropped_count += 1;
            if heap.dropped_count * 2 > heap.entries.len() {
                let is_alive = |entry: &Entry| {
                    !matches!(*lock(&entry.slot), Stage::Dropped)
                };
                heap.entries.retain(is_alive);
                heap.dropped_count = 0;
            }
        }
        drop(heap);
        drop(stage);
    }
}

super::process_timers!();

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/05-sleep/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/05-sleep/src/tests/mod.rs"]
mod tests;
