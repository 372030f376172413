//! Another correct design: one atomic word contains both directions with their
//! ticks, and the bit for the shutdown. Neither `clear` nor a poll that finds
//! the direction ready takes a lock. The wakers are in a list under a mutex,
//! which a poll locks only when it has to wait.
//!
//! *Memory ordering.* An event changes the word and then locks the list. A task
//! locks the list, and loads the word before it unlocks. If the task locked
//! first, the event finds its waker. If the event locked first, the task sees
//! the changed word, because its lock comes after the event's unlock. The word
//! itself publishes the driver's other writes: each change of the word is a
//! release, and each load is an acquire.

use std::mem;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

use primitives::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed},
};
use primitives::{Mutex, MutexGuard};

#[path = "../../../exercises/15-readiness/src/event.rs"]
mod event;

pub use event::{Direction, Event, ShutDown};

/// Set if the driver has shut down.
const SHUT_DOWN: u64 = 1 << 63;
/// The number of bits of one direction. The bits of `Write` follow those of
/// `Read`.
const SIDE_BITS: u32 = 31;
/// Set if the direction is ready.
const READY: u64 = 1;
/// Set if the direction stays ready forever.
const CLOSED: u64 = 1 << 1;
/// One event. The tick takes the rest of the direction's bits.
const TICK: u64 = 1 << 2;
const SIDE: u64 = (1 << SIDE_BITS) - 1;

/// The readiness of a source.
pub struct Readiness {
    word: AtomicU64,
    wakers: Mutex<[Wakers; 2]>,
}

/// The wakers of one direction.
#[derive(Default)]
struct Wakers {
    polled: Option<Waker>,
    /// The wakers of the futures, in no order, each with its future's id.
    waiting: Vec<(u64, Waker)>,
    last_id: u64,
}

/// Proof that a direction was ready at some moment.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    direction: Direction,
    /// The direction's bits at that moment.
    side: u64,
}

fn shift(direction: Direction) -> u32 {
    match direction {
        Direction::Read => 0,
        Direction::Write => SIDE_BITS,
    }
}

impl Readiness {
    /// Creates the readiness of a source for which no event has come yet.
    #[expect(
        clippy::new_without_default,
        reason = "one way to make it is enough"
    )]
    pub fn new() -> Self {
        Self {
            word: AtomicU64::new(0),
            wakers: Mutex::default(),
        }
    }

    /// Reports an event.
    pub fn set_ready(&self, event: Event) {
        let is_read = event.readable || event.read_closed || event.error;
        let is_write = event.writable || event.write_closed || event.error;
        let directions = [
            (Direction::Read, is_read, event.read_closed),
            (Direction::Write, is_write, event.write_closed),
        ];
        for (direction, is_ready, is_closed) in directions {
            if is_ready {
                let closed = if is_closed { CLOSED } else { 0 };
                let change = |word: u64| {
                    let side = (word >> shift(direction)) & SIDE;
                    // The tick wraps within its bits.
                    let new = (side.wrapping_add(TICK) | READY | closed) & SIDE;
                    Some(word ^ (side ^ new) << shift(direction))
                };
                // AcqRel: pairs with the Acquire loads of `outcome`.
                let _ = self.word.fetch_update(AcqRel, Relaxed, change);
            }
        }
        // A waker may panic.
        for (direction, is_ready, _) in directions {
            if is_ready {
                self.wake(direction);
            }
        }
    }

    fn wake(&self, direction: Direction) {
        let mut all = self.lock();
        let wakers = &mut all[direction as usize];
        let polled = wakers.polled.take();
        let waiting = mem::take(&mut wakers.waiting);
        drop(all);
        polled.into_iter().for_each(Waker::wake);
        waiting.into_iter().for_each(|(_, waker)| waker.wake());
    }

    /// Polls for the readiness of a direction.
    pub fn poll_ready(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
    ) -> Poll<Result<Ready, ShutDown>> {
        let store = |wakers: &mut Wakers, waker| wakers.polled.replace(waker);
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
            id: None,
        }
    }

    fn poll(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
        store: impl FnOnce(&mut Wakers, Waker) -> Option<Waker>,
    ) -> Poll<Result<Ready, ShutDown>> {
        if let Some(outcome) = self.outcome(direction) {
            return Poll::Ready(outcome);
        }
        let waker = cx.waker().clone();
        let mut wakers = self.lock();
        let replaced = store(&mut wakers[direction as usize], waker);
        // The second look comes after the store and before the unlock: see
        // above.
        let outcome = self.outcome(direction);
        drop(wakers);
        drop(replaced);
        match outcome {
            Some(outcome) => Poll::Ready(outcome),
            None => Poll::Pending,
        }
    }

    fn outcome(&self, direction: Direction) -> Option<Result<Ready, ShutDown>> {
        // Acquire: pairs with the RMWs in `set_ready` and `shut_down`.
        let word = self.word.load(Acquire);
        if word & SHUT_DOWN != 0 {
            return Some(Err(ShutDown));
        }
        let side = (word >> shift(direction)) & SIDE;
        (side & READY != 0).then_some(Ok(Ready { direction, side }))
    }

    /// Clears the direction of `seen`, unless an event has come since.
    pub fn clear(&self, seen: Ready) {
        if seen.side & CLOSED != 0 {
            return;
        }
        let change = |word: u64| {
            let side = (word >> shift(seen.direction)) & SIDE;
            // An event changes the tick, so all the bits have to be the same.
            (side == seen.side).then_some(word ^ READY << shift(seen.direction))
        };
        // AcqRel: part of the word's release sequence, like every change.
        let _ = self.word.fetch_update(AcqRel, Relaxed, change);
    }

    /// Makes all polls return an error, and wakes all tasks that wait.
    pub fn shut_down(&self) {
        // AcqRel: pairs with the Acquire loads of `outcome`.
        self.word.fetch_or(SHUT_DOWN, AcqRel);
        self.wake(Direction::Read);
        self.wake(Direction::Write);
    }

    fn lock(&self) -> MutexGuard<'_, [Wakers; 2]> {
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wakers {
    fn store(&mut self, id: &mut Option<u64>, waker: Waker) -> Option<Waker> {
        if let Some(place) = self.place_of(*id) {
            return Some(mem::replace(&mut self.waiting[place].1, waker));
        }
        let id = *id.get_or_insert_with(|| {
            self.last_id += 1;
            self.last_id
        });
        self.waiting.push((id, waker));
        None
    }

    fn place_of(&self, id: Option<u64>) -> Option<usize> {
        let id = id?;
        self.waiting.iter().position(|(it, _)| *it == id)
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
    id: Option<u64>,
}

impl Future for Waiting<'_> {
    type Output = Result<Ready, ShutDown>;

    fn poll(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Self::Output> {
        let (mut id, readiness) = (self.id, self.readiness);
        let store = |wakers: &mut Wakers, waker| wakers.store(&mut id, waker);
        let outcome = readiness.poll(cx, self.direction, store);
        self.id = id;
        outcome
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.id.is_some() {
            let mut all = self.readiness.lock();
            let wakers = &mut all[self.direction as usize];
            let place = wakers.place_of(self.id);
            let removed = place.map(|place| wakers.waiting.swap_remove(place));
            drop(all);
            drop(removed);
        }
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/15-readiness/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/15-readiness/src/tests/mod.rs"]
mod tests;
