//! The checks of exercise 15, one or more for each clause of the contract.
//!
//! No socket is needed: each check plays the driver, which reports events, and
//! the tasks, which wait.

mod clears;
mod closed;
mod dropped;
mod histories;
mod many;
mod moments;
mod ready;
mod shut_down;
mod strangers;
mod wakes;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use testkit::{CountingWaker, Lesson, WakeCounts, check};

use super::Direction::{self, Read, Write};
use super::{Event, Readiness, Ready, ShutDown};

const NOTHING: Event = Event {
    readable: false,
    writable: false,
    read_closed: false,
    write_closed: false,
    error: false,
};
const READ_CLOSED: Event = Event {
    read_closed: true,
    ..NOTHING
};
const WRITE_CLOSED: Event = Event {
    write_closed: true,
    ..NOTHING
};
const ERROR: Event = Event {
    error: true,
    ..NOTHING
};
const READABLE: Event = Event {
    readable: true,
    ..NOTHING
};
const WRITABLE: Event = Event {
    writable: true,
    ..NOTHING
};
const BOTH: Event = Event {
    readable: true,
    writable: true,
    ..NOTHING
};
/// Each direction, with the event that makes only this direction ready.
const DIRECTIONS: [(Direction, Event); 2] =
    [(Read, READABLE), (Write, WRITABLE)];

/// An event as a message names it: by the fields that are set.
struct Named(Event);

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(event) = self;
        let fields = [
            ("readable", event.readable),
            ("writable", event.writable),
            ("read_closed", event.read_closed),
            ("write_closed", event.write_closed),
            ("error", event.error),
        ];
        let set = fields.iter().filter(|(_, is_set)| *is_set);
        let set: Vec<_> = set.map(|(name, _)| format!("`{name}`")).collect();
        match set.is_empty() {
            true => f.write_str("an event with no field set"),
            false => f.write_str(&set.join(" and ")),
        }
    }
}

/// The driver and the tasks share a `Readiness` between threads. A task may carry
/// its `Ready` to another thread.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<Readiness>();
    is_shared::<Ready>();
};

type Outcome = Result<Ready, ShutDown>;
type Waiting<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

fn poll(
    readiness: &Readiness,
    waker: &Waker,
    direction: Direction,
) -> Poll<Outcome> {
    readiness.poll_ready(&mut Context::from_waker(waker), direction)
}

fn poll_future(future: &mut Waiting<'_>, waker: &Waker) -> Poll<Outcome> {
    future.as_mut().poll(&mut Context::from_waker(waker))
}

/// Returns `true` if the direction is ready. Leaves no waker, and changes neither
/// the waker of `poll_ready` nor those of other futures.
fn is_ready(readiness: &Readiness, direction: Direction) -> bool {
    let mut future: Waiting<'_> = Box::pin(readiness.ready(direction));
    poll_future(&mut future, Waker::noop()).is_ready()
}

/// Polls as a task that finds the direction ready. Returns what it has seen.
#[track_caller]
fn see(readiness: &Readiness, direction: Direction) -> Ready {
    match poll(readiness, Waker::noop(), direction) {
        Poll::Ready(Ok(seen)) => seen,
        other => panic!(
            "after an event that makes `{direction:?}` ready, `poll_ready` returned `{other:?}`"
        ),
    }
}

/// Polls as a task that finds the direction not ready. Returns the counts of its
/// waker.
#[track_caller]
fn wait(readiness: &Readiness, direction: Direction) -> Arc<WakeCounts> {
    let (waker, counts) = CountingWaker::new();
    let outcome = poll(readiness, &waker, direction);
    assert!(
        outcome.is_pending(),
        "`{direction:?}` isn't ready, and `poll_ready` returned `{outcome:?}`"
    );
    counts
}

/// Polls a new future as a task that finds the direction not ready.
#[track_caller]
fn begin(
    readiness: &Readiness,
    direction: Direction,
) -> (Waiting<'_>, Arc<WakeCounts>) {
    let mut future: Waiting<'_> = Box::pin(readiness.ready(direction));
    let counts = poll_again(&mut future);
    (future, counts)
}

/// Polls a future with a new waker. The future has to wait.
#[track_caller]
fn poll_again(future: &mut Waiting<'_>) -> Arc<WakeCounts> {
    let (waker, counts) = CountingWaker::new();
    let outcome = poll_future(future, &waker);
    assert!(
        outcome.is_pending(),
        "the direction isn't ready, and the future of `ready` returned `{outcome:?}`"
    );
    counts
}

/// Asserts that the waker and all its clones were dropped.
#[track_caller]
fn assert_dropped(counts: &WakeCounts, when: &str) {
    let (made, gone) = (counts.clones() + 1, counts.drops());
    assert!(made == gone, "{when}, {gone} of {made} wakers were dropped");
}
