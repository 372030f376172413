//! Exercise 15: the readiness of one source.
//!
//! The chapter is `src/io/readiness.md`. Check your version with
//! `cargo test -p exercise-15`, and then have every interleaving tried:
//! `cargo test -p exercise-15 --release --features loom`.
//!
//! Import locks and atomics from `primitives` (`primitives::Mutex`,
//! `primitives::MutexGuard`, `primitives::atomic`), as in exercise 2.

mod event;
#[cfg(all(test, feature = "loom"))]
mod models;
#[cfg(all(test, not(feature = "loom")))]
mod tests;

use std::future::poll_fn;
use std::task::{Context, Poll};

pub use event::{Direction, Event, ShutDown};

/// The readiness of a source, such as a socket: whether each of its two
/// directions is *ready*, and which tasks wait for it.
///
/// This type does no I/O. A driver reports events to it. A task waits here
/// until the source is ready, and then tries. If it gets `WouldBlock` from the
/// source, it clears the readiness and waits for the next event.
///
/// # Contract
///
/// 1. **Ready or not.** At first neither direction is ready. A `readable` event
///    makes `Read` ready, and a `writable` event makes `Write` ready; clause 5
///    adds closed directions and errors. The direction stays ready, for all
///    tasks, until a task clears it. While a direction is ready, `poll_ready`
///    and `ready` return a `Ready` of that direction. While it isn't, they're
///    pending.
/// 2. **No lost wake-up.** An event first makes a direction ready and then
///    wakes the tasks that wait for that direction. If the event comes during a
///    poll, the poll returns `Ready`, or its waker is woken.
/// 3. **Clear only what was seen.** `clear` makes the direction of `seen` not
///    ready, unless an event for that direction has come since `seen` was
///    returned. One such event has the same effect as a million.
/// 4. **Two directions.** An event that makes only one direction ready wakes no
///    task that waits for the other, and doesn't prevent `clear` from clearing
///    the other. Clearing one direction doesn't clear the other.
/// 5. **Closed.** `read_closed` makes `Read` ready forever: from then on,
///    `clear` doesn't change `Read`. `write_closed` does the same for `Write`.
///    `error` makes both directions ready until they're cleared.
/// 6. **A guess.** An event may be spurious. A task may clear what it has seen
///    and wait again, any number of times, and each new event wakes it. An
///    event with no field set changes nothing.
/// 7. **The newest waker.** An event wakes the waker of the newest `poll_ready`
///    for a direction. Each future of `ready` has a waker of its own: that of
///    its newest poll. By the time a poll returns, the waker that it replaces
///    has been dropped.
/// 8. **Any number.** Any number of futures of `ready` may wait, beside
///    `poll_ready`. An event wakes them all: no future displaces the waker of
///    another.
/// 9. **Dropped futures.** A dropped future leaves no waker and no memory
///    behind, and takes no other task's waker or wake-up with it.
/// 10. **Shut down.** `shut_down` wakes all tasks that wait. From then on,
///     `poll_ready` and `ready` return `ShutDown`, even if the direction is
///     ready or closed, or if an event comes later.
/// 11. **Free wakers.** Waking, cloning or dropping a waker may run code that
///     uses the readiness: that code may poll, clear, report events, and drop
///     futures. If a waker panics, the other tasks that wait for the same event
///     may stay unwoken. The event itself isn't lost: it has made all its
///     directions ready, or shut down both.
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
/// // The driver reports an event.
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

/// Proof that a direction was ready at some moment. If the source then returns
/// `WouldBlock`, the task passes it to [`clear`](Readiness::clear).
#[derive(Clone, Copy, Debug)]
pub struct Ready {}

impl Readiness {
    /// Creates the readiness of a source for which no event has come yet.
    #[expect(
        clippy::new_without_default,
        reason = "one way to make it is enough"
    )]
    pub fn new() -> Self {
        todo!("neither direction is ready, and no task waits")
    }

    /// Reports an event: makes its directions ready, and wakes their tasks.
    pub fn set_ready(&self, event: Event) {
        let _ = event;
        todo!("make the event's directions ready, and then wake their tasks")
    }

    /// Polls for the readiness of a direction. If the direction isn't ready,
    /// the waker is stored, and replaces the waker of an earlier call.
    pub fn poll_ready(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
    ) -> Poll<Result<Ready, ShutDown>> {
        let _ = (cx, direction);
        todo!("is the direction ready? If not, store the waker")
    }

    /// Waits until the direction is ready. Any number of tasks may wait.
    pub fn ready(
        &self,
        direction: Direction,
    ) -> impl Future<Output = Result<Ready, ShutDown>> + Send {
        // Replace this with a future type of your own, which can have a `Drop`.
        poll_fn(move |_cx| {
            let _ = direction;
            todo!("like `poll_ready`, with a place of its own for the waker")
        })
    }

    /// Clears the direction of `seen`, unless an event has come since. A task
    /// calls this when the source has returned `WouldBlock`.
    pub fn clear(&self, seen: Ready) {
        let _ = seen;
        todo!("no longer ready, unless an event has come since `seen`")
    }

    /// Makes all polls return an error, because no more events will come. Wakes
    /// all tasks that wait.
    pub fn shut_down(&self) {
        todo!("wake all tasks; from now on, each poll returns an error")
    }
}

impl Ready {
    /// Returns the direction that was ready.
    pub fn direction(&self) -> Direction {
        todo!("the direction that was polled")
    }
}
