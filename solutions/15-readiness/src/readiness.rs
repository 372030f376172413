//! The calls: each one locks, changes a direction, unlocks, and then wakes.

use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

use primitives::{Mutex, MutexGuard};

use super::side::{Side, Wakers};
use super::waiting::Waiting;
use super::{Direction, Event, ShutDown};

/// What is known about a source, such as a socket: in which of two directions
/// it's ready, and which tasks wait until it is. Its contract is above, in the
/// documentation of the crate.
pub struct Readiness {
    state: Mutex<State>,
}

/// As long as a waker is stored, its direction isn't ready, and the driver
/// hasn't shut down: what changes that takes all wakers out.
pub(crate) struct State {
    read: Side,
    write: Side,
    is_shut_down: bool,
}

/// That a direction was ready at some moment. It's passed to
/// [`clear`](Readiness::clear) if the source then says `WouldBlock`.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    direction: Direction,
    /// How many events had made the direction ready by then.
    tick: u64,
}

impl Readiness {
    /// Makes the readiness of a source of which nothing is known yet.
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
    /// The driver reports an event.
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

    /// If the direction isn't ready, the newest caller's waker is woken when it
    /// is.
    pub fn poll_ready(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
    ) -> Poll<Result<Ready, ShutDown>> {
        self.poll(cx, direction, |side, waker| {
            side.wakers.polled.replace(waker)
        })
    }

    /// Waits until the direction is ready. Any number of tasks may do that.
    pub fn ready(
        &self,
        direction: Direction,
    ) -> impl Future<Output = Result<Ready, ShutDown>> + Send {
        Waiting::new(self, direction)
    }

    // ANCHOR: poll
    /// Returns what is known about the direction. If it isn't ready, has
    /// `store` store the waker, and drops the waker that this one replaces.
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
        // While the lock was free, an event may have come.
        if let Some(outcome) = state.outcome(direction) {
            return Poll::Ready(outcome);
        }
        let replaced = store(state.side(direction), waker);
        drop(state);
        drop(replaced);
        Poll::Pending
    }
    // ANCHOR_END: poll

    /// A task has got `WouldBlock` after it had seen `seen`.
    pub fn clear(&self, seen: Ready) {
        self.lock().side(seen.direction).clear(seen.tick);
    }

    /// The driver ends, so no event will come.
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

    /// What a poll returns, or `None` if its task has to wait.
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
    /// The direction that was ready.
    pub fn direction(&self) -> Direction {
        self.direction
    }
}
