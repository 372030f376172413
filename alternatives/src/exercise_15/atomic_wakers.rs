//! Another correct design: the wakers are in `AtomicWaker`s of the crate
//! futures, one for `poll_ready` in each direction and one for each future. An
//! event clones a list of pointers under a lock, and wakes after unlocking.
//!
//! *Memory ordering.* A task registers its waker and then loads the word. An
//! event changes the word and then takes the waker. Registering and taking are
//! both RMWs of the `AtomicWaker`'s state, and the later one acquires what the
//! earlier one released. So either the event finds the waker, or the task sees
//! the changed word. (`AtomicWaker` doesn't use loom's atomics, so there are no
//! models here.)

use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};

use futures::task::AtomicWaker;
use primitives::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed},
};
use primitives::{Mutex, MutexGuard};

#[path = "../../../exercises/15-readiness/src/event.rs"]
mod event;

pub use event::{Direction, Event, ShutDown};

/// Set if the direction is ready.
const READY: u64 = 1;
/// Set if the direction stays ready forever.
const CLOSED: u64 = 1 << 1;
/// Set if the driver has shut down.
const SHUT_DOWN: u64 = 1 << 2;
/// One event. The tick takes the bits from here on.
const TICK: u64 = 1 << 3;

/// The readiness of a source.
pub struct Readiness {
    read: Side,
    write: Side,
}

struct Side {
    word: AtomicU64,
    polled: AtomicWaker,
    waiting: Mutex<Vec<Arc<AtomicWaker>>>,
}

/// Proof that a direction was ready at some moment.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    direction: Direction,
    word: u64,
}

impl Readiness {
    /// Creates the readiness of a source for which no event has come yet.
    #[expect(
        clippy::new_without_default,
        reason = "one way to make it is enough"
    )]
    pub fn new() -> Self {
        let side = || Side {
            word: AtomicU64::new(0),
            polled: AtomicWaker::new(),
            waiting: Mutex::default(),
        };
        Self {
            read: side(),
            write: side(),
        }
    }

    /// Reports an event.
    pub fn set_ready(&self, event: Event) {
        let closed = |is_closed| if is_closed { CLOSED } else { 0 };
        let is_read = event.readable || event.read_closed || event.error;
        let is_write = event.writable || event.write_closed || event.error;
        if is_read {
            self.read.set_ready(closed(event.read_closed));
        }
        if is_write {
            self.write.set_ready(closed(event.write_closed));
        }
        // A waker may panic.
        if is_read {
            self.read.wake();
        }
        if is_write {
            self.write.wake();
        }
    }

    /// Polls for the readiness of a direction.
    pub fn poll_ready(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
    ) -> Poll<Result<Ready, ShutDown>> {
        if let Some(outcome) = self.outcome(direction) {
            return Poll::Ready(outcome);
        }
        self.side(direction).polled.register(cx.waker());
        self.outcome(direction).map_or(Poll::Pending, Poll::Ready)
    }

    /// Waits until the direction is ready.
    pub fn ready(
        &self,
        direction: Direction,
    ) -> impl Future<Output = Result<Ready, ShutDown>> + Send {
        Waiting {
            readiness: self,
            direction,
            waker: None,
        }
    }

    fn outcome(&self, direction: Direction) -> Option<Result<Ready, ShutDown>> {
        // Acquire: pairs with the RMWs in `Side::set_ready` and `Side::end`.
        let word = self.side(direction).word.load(Acquire);
        if word & SHUT_DOWN != 0 {
            return Some(Err(ShutDown));
        }
        (word & READY != 0).then_some(Ok(Ready { direction, word }))
    }

    /// Clears the direction of `seen`, unless an event has come since.
    pub fn clear(&self, seen: Ready) {
        if seen.word & CLOSED == 0 {
            let word = &self.side(seen.direction).word;
            let new = seen.word & !READY;
            // AcqRel: part of the word's release sequence, like every change.
            let _ = word.compare_exchange(seen.word, new, AcqRel, Relaxed);
        }
    }

    /// Makes all polls return an error, and wakes all tasks that wait.
    pub fn shut_down(&self) {
        self.read.end();
        self.write.end();
        self.read.wake();
        self.write.wake();
    }

    fn side(&self, direction: Direction) -> &Side {
        match direction {
            Direction::Read => &self.read,
            Direction::Write => &self.write,
        }
    }
}

impl Side {
    fn set_ready(&self, closed: u64) {
        let change = |word: u64| Some(word.wrapping_add(TICK) | READY | closed);
        // AcqRel: pairs with the Acquire loads of `outcome`.
        let _ = self.word.fetch_update(AcqRel, Relaxed, change);
    }

    fn end(&self) {
        // AcqRel: pairs with the Acquire loads of `outcome`.
        self.word.fetch_or(SHUT_DOWN, AcqRel);
    }

    fn wake(&self) {
        let waiting = self.lock().clone();
        self.polled.wake();
        waiting.iter().for_each(|waker| waker.wake());
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<AtomicWaker>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
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
    /// Also in the list, from the future's first wait on.
    waker: Option<Arc<AtomicWaker>>,
}

impl Future for Waiting<'_> {
    type Output = Result<Ready, ShutDown>;

    fn poll(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Self::Output> {
        let (readiness, direction) = (self.readiness, self.direction);
        if let Some(outcome) = readiness.outcome(direction) {
            return Poll::Ready(outcome);
        }
        let waker = self.waker.get_or_insert_with(|| {
            let waker = Arc::new(AtomicWaker::new());
            readiness.side(direction).lock().push(waker.clone());
            waker
        });
        waker.register(cx.waker());
        readiness
            .outcome(direction)
            .map_or(Poll::Pending, Poll::Ready)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(waker) = &self.waker {
            let mut waiting = self.readiness.side(self.direction).lock();
            let own = waiting.iter().position(|it| Arc::ptr_eq(it, waker));
            // `self.waker` is another owner, so removing this one runs no
            // destructor of a waker.
            own.map(|place| waiting.swap_remove(place));
        }
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/15-readiness/src/tests/mod.rs"]
mod tests;
