//! The public calls: each concerns one direction of the source, or first the
//! one and then the other.

use std::task::{Context, Poll, Waker};

use super::side::{Side, Waiters, Wakers};
use super::waiting::Waiting;
use super::{Direction, Event, ShutDown};

/// The readiness of a source, such as a socket: whether each of its two
/// directions is ready, and which tasks wait for it. The contract is in the
/// documentation of the crate.
pub struct Readiness {
    read: Side,
    write: Side,
}

/// Proof that a direction was ready at some moment. If the source then returns
/// `WouldBlock`, the task passes it to [`clear`](Readiness::clear).
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    direction: Direction,
    /// The direction's word at that moment.
    word: u64,
}

impl Readiness {
    /// Creates the readiness of a source for which no event has come yet.
    #[expect(
        clippy::new_without_default,
        reason = "one way to make it is enough"
    )]
    pub fn new() -> Self {
        Self {
            read: Side::new(),
            write: Side::new(),
        }
    }

    // ANCHOR: set_ready
    /// Reports an event: makes its directions ready, and wakes their tasks.
    pub fn set_ready(&self, event: Event) {
        let reads = event.readable || event.read_closed || event.error;
        let writes = event.writable || event.write_closed || event.error;
        let readers = reads.then(|| self.read.set_ready(event.read_closed));
        let writers = writes.then(|| self.write.set_ready(event.write_closed));
        readers.into_iter().chain(writers).for_each(Wakers::wake);
    }
    // ANCHOR_END: set_ready

    /// Polls for the readiness of a direction. If the direction isn't ready,
    /// the waker is stored, and replaces the waker of an earlier call.
    pub fn poll_ready(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
    ) -> Poll<Result<Ready, ShutDown>> {
        self.poll(cx, direction, |waiters, waker| {
            waiters.wakers.polled.replace(waker)
        })
    }

    /// Waits until the direction is ready. Any number of tasks may wait.
    pub fn ready(
        &self,
        direction: Direction,
    ) -> impl Future<Output = Result<Ready, ShutDown>> + Send {
        Waiting::new(self, direction)
    }

    // ANCHOR: poll
    /// Returns the outcome of a poll. If the task has to wait, calls `store` to
    /// store its waker, and drops the waker that was replaced.
    pub(crate) fn poll(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
        store: impl FnOnce(&mut Waiters, Waker) -> Option<Waker>,
    ) -> Poll<Result<Ready, ShutDown>> {
        let ready = |word| Ready { direction, word };
        let side = self.side(direction);
        if let Some(outcome) = side.outcome() {
            return Poll::Ready(outcome.map(ready));
        }
        let waker = cx.waker().clone();
        let mut waiters = side.lock();
        // An event may have come since the first look.
        if let Some(outcome) = side.outcome() {
            return Poll::Ready(outcome.map(ready));
        }
        let replaced = store(&mut waiters, waker);
        drop(waiters);
        drop(replaced);
        Poll::Pending
    }
    // ANCHOR_END: poll

    /// Clears the direction of `seen`, unless an event has come since. A task
    /// calls this when the source has returned `WouldBlock`.
    pub fn clear(&self, seen: Ready) {
        self.side(seen.direction).clear(seen.word);
    }

    /// Makes all polls return an error, because no more events will come. Wakes
    /// all tasks that wait.
    pub fn shut_down(&self) {
        let readers = self.read.shut_down();
        let writers = self.write.shut_down();
        readers.wake();
        writers.wake();
    }

    pub(crate) fn side(&self, direction: Direction) -> &Side {
        match direction {
            Direction::Read => &self.read,
            Direction::Write => &self.write,
        }
    }
}

impl Ready {
    /// Returns the direction that was ready.
    pub fn direction(&self) -> Direction {
        self.direction
    }
}
