//! Exercise 15: the readiness of one source.
//!
//! The chapter is `src/io/readiness.md`. Check your version with
//! `cargo test -p exercise-15`, and then have every interleaving tried:
//! `cargo test -p exercise-15 --release --features loom`.
//!
//! Import locks and atomics from `primitives`, as in exercise 2.

mod event;
#[cfg(all(test, feature = "loom"))]
mod models;
#[cfg(all(test, not(feature = "loom")))]
mod tests;

use std::future::poll_fn;
use std::task::{Context, Poll};

pub use event::{Direction, Event, ShutDown};

/// What is known about a source, such as a socket: in which of two directions
/// it's *ready*, and which tasks wait until it is.
///
/// It does no I/O. A driver reports events to it. A task that got `WouldBlock`
/// from the source waits here, tries again, and clears the readiness if it got
/// `WouldBlock` again.
///
/// # Contract
///
/// 1. **Ready or not.** At first neither direction is ready. An event makes a
///    direction ready if it's `readable` for `Read`, or `writable` for `Write`
///    (or by clause 5). The direction stays ready, for all tasks, until it's
///    cleared. `poll_ready` and `ready` return a `Ready` of the direction if
///    it's ready, and are pending if it isn't.
/// 2. **No lost wake-up.** An event makes a direction ready, and then wakes the
///    tasks that wait for it. If it comes during a poll, the poll returns
///    `Ready`, or its waker is woken.
/// 3. **Clear only what was seen.** `clear` makes the direction of `seen` not
///    ready, unless an event has made it ready since `seen` was returned. It
///    doesn't matter how many events that were: one or a million.
/// 4. **Two directions.** An event that makes only one direction ready wakes no
///    task that waits for the other, and doesn't keep `clear` from clearing the
///    other. Clearing one doesn't clear the other.
/// 5. **Closed.** `read_closed` makes `Read` ready forever: `clear` changes
///    nothing from then on. `write_closed` does the same for `Write`. `error`
///    makes both ready, until they are cleared.
/// 6. **A guess.** An event may be wrong. A task that clears what it has seen
///    waits again, and the next event wakes it, any number of times. An event
///    with no field set changes nothing.
/// 7. **The newest waker.** Of the wakers that `poll_ready` got for one
///    direction, the one of the newest poll is woken. Each future of `ready`
///    has a waker of its own, likewise. An older one is dropped by the time
///    that the poll returns.
/// 8. **Any number.** Any number of futures of `ready` may wait, beside
///    `poll_ready`. An event wakes them all: none takes another's place.
/// 9. **Dropped futures.** A future that's dropped leaves no waker and no
///    memory behind, and takes no other task's waker or wake-up with it.
/// 10. **Shut down.** `shut_down` wakes all tasks that wait. From then on,
///     `poll_ready` and `ready` return `ShutDown`, even if the direction is
///     ready or closed, or an event comes.
/// 11. **Free wakers.** A waker may use the readiness while it's woken, cloned
///     or dropped: it may poll, clear, report events, and drop futures.
///
/// # Examples
///
/// ```no_run
/// use std::task::{Context, Poll, Waker};
///
/// use exercise_15::{Direction::Read, Event, Readiness};
///
/// let readiness = Readiness::new();
/// let mut cx = Context::from_waker(Waker::noop());
/// assert!(readiness.poll_ready(&mut cx, Read).is_pending());
/// // The driver has got an event, and wakes the task.
/// let readable = Event { readable: true, ..Event::default() };
/// readiness.set_ready(readable);
/// let Poll::Ready(Ok(seen)) = readiness.poll_ready(&mut cx, Read) else {
///     unreachable!("it's readable")
/// };
/// // The task reads, and gets `WouldBlock`.
/// readiness.clear(seen);
/// assert!(readiness.poll_ready(&mut cx, Read).is_pending());
/// ```
pub struct Readiness {}

/// That a direction was ready at some moment. It's passed to
/// [`clear`](Readiness::clear) if the source then says `WouldBlock`.
#[derive(Clone, Copy, Debug)]
pub struct Ready {}

impl Readiness {
    /// Makes the readiness of a source of which nothing is known yet.
    #[expect(
        clippy::new_without_default,
        reason = "one way to make it is enough"
    )]
    pub fn new() -> Self {
        todo!("neither direction is ready, and no task waits")
    }

    /// The driver reports an event.
    pub fn set_ready(&self, event: Event) {
        let _ = event;
        todo!("make ready what the event says; wake the tasks that wait for it")
    }

    /// If the direction isn't ready, the newest caller's waker is woken when it
    /// is.
    pub fn poll_ready(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
    ) -> Poll<Result<Ready, ShutDown>> {
        let _ = (cx, direction);
        todo!("is it ready? If not, keep the waker")
    }

    /// Waits until the direction is ready. Any number of tasks may do that.
    pub fn ready(
        &self,
        direction: Direction,
    ) -> impl Future<Output = Result<Ready, ShutDown>> + Send {
        // Make it a type of your own: it needs a `Drop`.
        poll_fn(move |_cx| {
            let _ = direction;
            todo!("like `poll_ready`, with a place of its own for the waker")
        })
    }

    /// A task has got `WouldBlock` after it had seen `seen`.
    pub fn clear(&self, seen: Ready) {
        let _ = seen;
        todo!("not ready any longer, unless an event has come since")
    }

    /// The driver ends, so no event will come.
    pub fn shut_down(&self) {
        todo!("wake all tasks; from now on they get an error")
    }
}

impl Ready {
    /// The direction that was ready.
    pub fn direction(&self) -> Direction {
        todo!("the direction that was polled")
    }
}
