//! Breaks clause 3: Clear only what was seen.
//! Caught by: tests::an_event_that_came_since_is_kept
//! Also fails: tests::an_event_is_kept_however_many_came
//! Also fails: tests::thousands_of_events_reach_their_task
//! Also fails: tests::a_task_that_comes_or_leaves_at_any_moment_disturbs_no_other
//! Also fails: tests::an_event_at_any_moment_of_a_call_counts
//! Also fails: tests::calls_in_any_order_do_what_the_contract_says
//! Also fails: tests::what_is_seen_and_cleared_at_any_moment_is_kept_apart
//!
//! The tick counts only events that change something. An event for a direction
//! that's ready already seems to be nothing new: no task waits, and the flag is
//! set. However, that event may be the only sign of data that arrived after the
//! task's last read. Because the event isn't counted, `clear` can't tell that
//! it came, and clears the readiness.

use std::collections::BTreeMap;
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
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    sides: [Side; 2],
    is_shut_down: bool,
    last_id: u64,
}

// ANCHOR: side
#[derive(Default)]
struct Side {
    is_ready: bool,
    is_closed: bool,
    tick: u64,
    wakers: Wakers,
}

/// The wakers by the ids of their futures. `None` is the key of `poll_ready`.
type Wakers = BTreeMap<Option<u64>, Waker>;

impl Side {
    /// Returns the wakers that the caller has to wake.
    fn set_ready(&mut self, is_closed: bool) -> Wakers {
        self.is_closed |= is_closed;
        // ANCHOR: guilty
        if self.is_ready {
        // ANCHOR_END: guilty
            // Nothing changes, and no task waits.
            // ANCHOR: guilty_2
            return Wakers::new();
            // ANCHOR_END: guilty_2
        }
        self.is_ready = true;
        // ANCHOR: guilty_3
        self.tick += 1;
        // ANCHOR_END: guilty_3
        mem::take(&mut self.wakers)
    }

    fn clear(&mut self, tick: u64) {
        if self.tick == tick && !self.is_closed {
            self.is_ready = false;
        }
    }
}
// ANCHOR_END: side

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
            state: Mutex::default(),
        }
    }

    /// Reports an event.
    pub fn set_ready(&self, event: Event) {
        let is_read = event.readable || event.read_closed || event.error;
        let is_write = event.writable || event.write_closed || event.error;
        let mut state = self.lock();
        let [read, write] = &mut state.sides;
        let readers = is_read.then(|| read.set_ready(event.read_closed));
        let writers = is_write.then(|| write.set_ready(event.write_closed));
        drop(state);
        let all = readers.into_iter().chain(writers);
        all.flat_map(Wakers::into_values).for_each(Waker::wake);
    }

    /// Polls for the readiness of a direction.
    pub fn poll_ready(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
    ) -> Poll<Result<Ready, ShutDown>> {
        self.poll(cx, direction, |_| None)
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
        id: impl FnOnce(&mut State) -> Option<u64>,
    ) -> Poll<Result<Ready, ShutDown>> {
        let waker = cx.waker().clone();
        let mut state = self.lock();
        if state.is_shut_down {
            return Poll::Ready(Err(ShutDown));
        }
        let id = id(&mut state);
        let side = &mut state.sides[direction as usize];
        if side.is_ready {
            let tick = side.tick;
            return Poll::Ready(Ok(Ready { direction, tick }));
        }
        let replaced = side.wakers.insert(id, waker);
        drop(state);
        drop(replaced);
        Poll::Pending
    }

    /// Clears the direction of `seen`, unless an event has come since.
    pub fn clear(&self, seen: Ready) {
        self.lock().sides[seen.direction as usize].clear(seen.tick);
    }

    /// Makes all polls return an error, and wakes all tasks that wait.
    pub fn shut_down(&self) {
        let mut state = self.lock();
        state.is_shut_down = true;
        let all = state.sides.each_mut().map(|it| mem::take(&mut it.wakers));
        drop(state);
        let all = all.into_iter();
        all.flat_map(Wakers::into_values).for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
        let (mut own, readiness) = (self.id, self.readiness);
        let id = |state: &mut State| {
            Some(*own.get_or_insert_with(|| {
                state.last_id += 1;
                state.last_id
            }))
        };
        let outcome = readiness.poll(cx, self.direction, id);
        self.id = own;
        outcome
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.id.is_some() {
            let mut state = self.readiness.lock();
            let side = &mut state.sides[self.direction as usize];
            let waker = side.wakers.remove(&self.id);
            drop(state);
            drop(waker);
        }
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/15-readiness/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/15-readiness/src/tests/mod.rs"]
mod tests;
