//! Solution 15: the readiness of one source.
//!
//! Each direction has a word of its own, which says whether it's ready, and
//! counts its events (the *tick*). A [`Ready`] stores the whole word, so
//! `clear` is one compare-exchange: it fails if an event has come since.
//!
//! A poll that finds the direction ready only loads the word. The wakers are
//! under a lock, which only a poll that has to wait and an event take.
//!
//! No waker is woken, cloned or dropped under the lock. A waker runs code of
//! its executor, and that code may need the lock.
//!
//! # Contract
//!
//! 1. **Ready or not.** At first neither direction is ready. A `readable` event
//!    makes `Read` ready, and a `writable` event makes `Write` ready; clause 5
//!    adds closed directions and errors. The direction stays ready, for all
//!    tasks, until a task clears it. While a direction is ready, `poll_ready`
//!    and `ready` return a `Ready` of that direction. While it isn't, they're
//!    pending.
//! 2. **No lost wake-up.** An event first makes a direction ready and then
//!    wakes the tasks that wait for that direction. If the event comes during a
//!    poll, the poll returns `Ready`, or its waker is woken.
//! 3. **Clear only what was seen.** `clear` makes the direction of `seen` not
//!    ready, unless an event for that direction has come since `seen` was
//!    returned. One such event has the same effect as a million.
//! 4. **Two directions.** An event that makes only one direction ready wakes no
//!    task that waits for the other, and doesn't prevent `clear` from clearing
//!    the other. Clearing one direction doesn't clear the other.
//! 5. **Closed.** `read_closed` makes `Read` ready forever: from then on,
//!    `clear` doesn't change `Read`. `write_closed` does the same for `Write`.
//!    `error` makes both directions ready until they're cleared.
//! 6. **A guess.** An event may be spurious. A task may clear what it has seen
//!    and wait again, any number of times, and each new event wakes it. An
//!    event with no field set changes nothing.
//! 7. **The newest waker.** An event wakes the waker of the newest `poll_ready`
//!    for a direction. Each future of `ready` has a waker of its own: that of
//!    its newest poll. By the time a poll returns, the waker that it replaces
//!    has been dropped.
//! 8. **Any number.** Any number of futures of `ready` may wait, beside
//!    `poll_ready`. An event wakes them all: no future displaces the waker of
//!    another.
//! 9. **Dropped futures.** A dropped future leaves no waker and no memory
//!    behind, and takes no other task's waker or wake-up with it.
//! 10. **Shut down.** `shut_down` wakes all tasks that wait. From then on,
//!     `poll_ready` and `ready` return `ShutDown`, even if the direction is
//!     ready or closed, or if an event comes later.
//! 11. **Free wakers.** Waking, cloning or dropping a waker may run code that
//!     uses the readiness: that code may poll, clear, report events, and drop
//!     futures. If a waker panics, the other tasks that wait for the same event
//!     may stay unwoken. The event itself isn't lost: it has made all its
//!     directions ready, or shut down both.
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
//! // The driver reports an event.
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
