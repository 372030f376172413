//! Another correct design: each direction has a lock of its own, so a reader
//! and a writer of the same connection don't contend. A future owns a slot from
//! its first wait until it's dropped, even after an event has taken its waker
//! out: only its own `Drop` frees the slot.

use std::mem;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

use primitives::{Mutex, MutexGuard};

#[path = "../../../exercises/15-readiness/src/event.rs"]
mod event;

pub use event::{Direction, Event, ShutDown};

/// The readiness of a source.
pub struct Readiness {
    read: Mutex<Side>,
    write: Mutex<Side>,
}

#[derive(Default)]
struct Side {
    is_ready: bool,
    is_closed: bool,
    is_shut_down: bool,
    tick: u64,
    polled: Option<Waker>,
    slots: Vec<Slot>,
    first_free: Option<usize>,
}

enum Slot {
    /// A free slot, with the index of the next free slot.
    Free(Option<usize>),
    /// The slot of a future, with the future's waker while the future waits.
    Owned(Option<Waker>),
}

/// Proof that a direction was ready at some moment.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    direction: Direction,
    tick: u64,
}

impl Readiness {
    /// Creates the readiness of a source for which no event has come yet.
    #[expect(
        clippy::new_without_default,
        reason = "one way to make it is enough"
    )]
    pub fn new() -> Self {
        Self {
            read: Mutex::default(),
            write: Mutex::default(),
        }
    }

    /// Reports an event.
    pub fn set_ready(&self, event: Event) {
        let is_read = event.readable || event.read_closed || event.error;
        let is_write = event.writable || event.write_closed || event.error;
        let mut wakers = Vec::new();
        for (direction, is_ready, is_closed) in [
            (Direction::Read, is_read, event.read_closed),
            (Direction::Write, is_write, event.write_closed),
        ] {
            if is_ready {
                let mut side = self.lock(direction);
                side.is_ready = true;
                side.is_closed |= is_closed;
                side.tick += 1;
                wakers.append(&mut side.take_wakers());
            }
        }
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Polls for the readiness of a direction.
    pub fn poll_ready(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
    ) -> Poll<Result<Ready, ShutDown>> {
        let store = |side: &mut Side, waker| side.polled.replace(waker);
        self.poll(cx, direction, store)
    }

    /// Waits until the direction is ready.
    pub fn ready(
        &self,
        direction: Direction,
    ) -> impl Future<Output = Result<Ready, ShutDown>> + Send {
        Waiting {
            readiness: self,
            direction,
            slot: None,
        }
    }

    fn poll(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
        store: impl FnOnce(&mut Side, Waker) -> Option<Waker>,
    ) -> Poll<Result<Ready, ShutDown>> {
        // Cloned before the lock is taken. If the direction is ready, the clone
        // is wasted.
        let waker = cx.waker().clone();
        let mut side = self.lock(direction);
        if side.is_shut_down {
            return Poll::Ready(Err(ShutDown));
        }
        if side.is_ready {
            let tick = side.tick;
            return Poll::Ready(Ok(Ready { direction, tick }));
        }
        let replaced = store(&mut side, waker);
        drop(side);
        drop(replaced);
        Poll::Pending
    }

    /// Clears the direction of `seen`, unless an event has come since.
    pub fn clear(&self, seen: Ready) {
        let mut side = self.lock(seen.direction);
        side.is_ready &= side.is_closed || side.tick != seen.tick;
    }

    /// Makes all polls return an error, and wakes all tasks that wait.
    pub fn shut_down(&self) {
        let mut wakers = Vec::new();
        for direction in [Direction::Read, Direction::Write] {
            let mut side = self.lock(direction);
            side.is_shut_down = true;
            wakers.append(&mut side.take_wakers());
        }
        wakers.into_iter().for_each(Waker::wake);
    }

    fn lock(&self, direction: Direction) -> MutexGuard<'_, Side> {
        let side = match direction {
            Direction::Read => &self.read,
            Direction::Write => &self.write,
        };
        side.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Side {
    fn take_wakers(&mut self) -> Vec<Waker> {
        let slots = self.slots.iter_mut().filter_map(|slot| match slot {
            Slot::Owned(waker) => waker.take(),
            Slot::Free(_) => None,
        });
        self.polled.take().into_iter().chain(slots).collect()
    }

    /// Returns a slot for a future.
    fn claim(&mut self) -> usize {
        let Some(free) = self.first_free else {
            self.slots.push(Slot::Owned(None));
            return self.slots.len() - 1;
        };
        if let Slot::Free(next) = self.slots[free] {
            self.first_free = next;
        }
        self.slots[free] = Slot::Owned(None);
        free
    }

    /// Stores a waker in the slot of its future. Returns the waker that it
    /// replaces.
    fn store(&mut self, slot: usize, waker: Waker) -> Option<Waker> {
        match mem::replace(&mut self.slots[slot], Slot::Owned(Some(waker))) {
            Slot::Owned(replaced) => replaced,
            Slot::Free(_) => unreachable!("slot {slot} has no owner"),
        }
    }

    /// Frees a slot. Returns its old content, which the caller must drop after
    /// unlocking.
    fn release(&mut self, slot: usize) -> Slot {
        let free = Slot::Free(self.first_free.replace(slot));
        mem::replace(&mut self.slots[slot], free)
    }
}

impl Ready {
    /// Returns the direction that was ready.
    pub fn direction(&self) -> Direction {
        self.direction
    }
}

struct Waiting<'a> {
    readiness: &'a Readiness,
    direction: Direction,
    slot: Option<usize>,
}

impl Future for Waiting<'_> {
    type Output = Result<Ready, ShutDown>;

    fn poll(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Self::Output> {
        let own = &mut self.slot;
        let (mut slot, readiness) = (own.take(), self.readiness);
        let store = |side: &mut Side, waker| {
            let slot = *slot.get_or_insert_with(|| side.claim());
            side.store(slot, waker)
        };
        let outcome = readiness.poll(cx, self.direction, store);
        self.slot = slot;
        outcome
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            let released = self.readiness.lock(self.direction).release(slot);
            drop(released);
        }
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/15-readiness/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/15-readiness/src/tests/mod.rs"]
mod tests;
