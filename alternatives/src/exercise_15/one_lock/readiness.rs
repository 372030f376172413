//! The public calls: each locks the state, changes a direction, unlocks, and
//! then wakes tasks.

use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

use primitives::{Mutex, MutexGuard};

use super::side::{Side, Wakers};
use super::waiting::Waiting;
use super::{Direction, Event, ShutDown};

/// The readiness of a source, such as a socket: whether each of its two
/// directions is ready, and which tasks wait for it. The contract is in the
/// documentation of the crate.
pub struct Readiness {
    state: Mutex<State>,
}

/// Invariant: while a waker is stored, its direction isn't ready, and the
/// driver hasn't shut down. The calls that change either of the two take the
/// wakers out.
pub(crate) struct State {
    read: Side,
    write: Side,
    is_shut_down: bool,
}

/// Proof that a direction was ready at some moment. If the source then returns
/// `WouldBlock`, the task passes it to [`clear`](Readiness::clear).
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    direction: Direction,
    /// The direction's tick at that moment.
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
            state: Mutex::new(State {
                read: Side::default(),
                write: Side::default(),
                is_shut_down: false,
            }),
        }
    }

    // ANCHOR: set_ready
    /// Reports an event: makes its directions ready, and wakes their tasks.
    pub fn set_ready(&self, event: Event) {
        let reads = event.readable || event.read_closed || event.error;
        let writes = event.writable || event.write_closed || event.error;
        let mut state = self.lock();
        let readers = reads.then(|| state.read.set_ready(event.read_closed));
        let writers = writes.then(|| state.write.set_ready(event.write_closed));
        drop(state);
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
        self.poll(cx, direction, |side, waker| {
            side.wakers.polled.replace(waker)
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
        store: impl FnOnce(&mut Side, Waker) -> Option<Waker>,
    ) -> Poll<Result<Ready, ShutDown>> {
        if let Some(outcome) = self.lock().outcome(direction) {
            return Poll::Ready(outcome);
        }
        let waker = cx.waker().clone();
        let mut state = self.lock();
        // An event may have come while the state was unlocked.
        if let Some(outcome) = state.outcome(direction) {
            return Poll::Ready(outcome);
        }
        let replaced = store(state.side(direction), waker);
        drop(state);
        drop(replaced);
        Poll::Pending
    }
    // ANCHOR_END: poll

    /// Clears the direction of `seen`, unless an event has come since. A task
    /// calls this when the source has returned `WouldBlock`.
    pub fn clear(&self, seen: Ready) {
        self.lock().side(seen.direction).clear(seen.tick);
    }

    /// Makes all polls return an error, because no more events will come. Wakes
    /// all tasks that wait.
    pub fn shut_down(&self) {
        let mut state = self.lock();
        state.is_shut_down = true;
        let readers = state.read.take_wakers();
        let writers = state.write.take_wakers();
        drop(state);
        readers.wake();
        writers.wake();
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    pub(crate) fn side(&mut self, direction: Direction) -> &mut Side {
        match direction {
            Direction::Read => &mut self.read,
            Direction::Write => &mut self.write,
        }
    }

    /// Returns the result of a poll, or `None` if its task has to wait.
    fn outcome(
        &mut self,
        direction: Direction,
    ) -> Option<Result<Ready, ShutDown>> {
        if self.is_shut_down {
            return Some(Err(ShutDown));
        }
        let tick = self.side(direction).tick_if_ready()?;
        Some(Ok(Ready { direction, tick }))
    }
}

impl Ready {
    /// Returns the direction that was ready.
    pub fn direction(&self) -> Direction {
        self.direction
    }
}
