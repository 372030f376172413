//! Solution 15: the readiness of one source.
//!
//! Everything is under one mutex, so each call is one step, and there is
//! nothing to say about orderings. A lock that no other thread wants costs two
//! RMWs, which is little beside the system call that follows.
//!
//! Each direction has a tick, which counts its events. A [`Ready`] remembers
//! the tick, so `clear` can tell whether an event has come since.
//!
//! No waker is woken, cloned or dropped under the lock: what a waker does is up
//! to its executor, and it may want this lock.
//!
//! # Contract
//!
//! 1. **Ready or not.** At first neither direction is ready. An event makes a
//!    direction ready if it's `readable` for `Read`, or `writable` for `Write`
//!    (or by clause 5). The direction stays ready, for all tasks, until it's
//!    cleared. `poll_ready` and `ready` return a `Ready` of the direction if
//!    it's ready, and are pending if it isn't.
//! 2. **No lost wake-up.** An event makes a direction ready, and then wakes the
//!    tasks that wait for it. If it comes during a poll, the poll returns
//!    `Ready`, or its waker is woken.
//! 3. **Clear only what was seen.** `clear` makes the direction of `seen` not
//!    ready, unless an event has made it ready since `seen` was returned. It
//!    doesn't matter how many events that were: one or a million.
//! 4. **Two directions.** An event that makes only one direction ready wakes no
//!    task that waits for the other, and doesn't keep `clear` from clearing the
//!    other. Clearing one doesn't clear the other.
//! 5. **Closed.** `read_closed` makes `Read` ready forever: `clear` changes
//!    nothing from then on. `write_closed` does the same for `Write`. `error`
//!    makes both ready, until they are cleared.
//! 6. **A guess.** An event may be wrong. A task that clears what it has seen
//!    waits again, and the next event wakes it, any number of times. An event
//!    with no field set changes nothing.
//! 7. **The newest waker.** Of the wakers that `poll_ready` got for one
//!    direction, the one of the newest poll is woken. Each future of `ready`
//!    has a waker of its own, likewise. An older one is dropped by the time
//!    that the poll returns.
//! 8. **Any number.** Any number of futures of `ready` may wait, beside
//!    `poll_ready`. An event wakes them all: none takes another's place.
//! 9. **Dropped futures.** A future that's dropped leaves no waker and no
//!    memory behind, and takes no other task's waker or wake-up with it.
//! 10. **Shut down.** `shut_down` wakes all tasks that wait. From then on,
//!     `poll_ready` and `ready` return `ShutDown`, even if the direction is
//!     ready or closed, or an event comes.
//! 11. **Free wakers.** A waker may use the readiness while it's woken, cloned
//!     or dropped: it may poll, clear, report events, and drop futures.
//!
//! # Examples
//!
//! ```no_run
//! use std::task::{Context, Poll, Waker};
//!
//! use solution_15::{Direction::Read, Event, Readiness};
//!
//! let readiness = Readiness::new();
//! let mut cx = Context::from_waker(Waker::noop());
//! assert!(readiness.poll_ready(&mut cx, Read).is_pending());
//! // The driver has got an event, and wakes the task.
//! let readable = Event { readable: true, ..Event::default() };
//! readiness.set_ready(readable);
//! let Poll::Ready(Ok(seen)) = readiness.poll_ready(&mut cx, Read) else {
//!     unreachable!("it's readable")
//! };
//! // The task reads, and gets `WouldBlock`.
//! readiness.clear(seen);
//! assert!(readiness.poll_ready(&mut cx, Read).is_pending());
//! ```

#[path = "../../../exercises/15-readiness/src/event.rs"]
mod event;
#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/15-readiness/src/models.rs"]
mod models;
mod readiness;
mod side;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/15-readiness/src/tests/mod.rs"]
mod tests;
mod waiting;

pub use event::{Direction, Event, ShutDown};
pub use readiness::{Readiness, Ready};
