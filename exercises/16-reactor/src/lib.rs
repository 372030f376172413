//! Exercise 16: a reactor, with TCP, UDP and timers.
//!
//! The chapter is `src/io/reactor.md`. Check your version with
//! `cargo test -p exercise-16`.
//!
//! What you write is the driver, what its handles share with it, and how a task
//! uses a source. The driver is built on mio: [`mio::Poll`] waits for events,
//! [`mio::Registry`] registers sources, and [`mio::Waker`] ends a wait. The
//! crate `readiness` is exercise 15, which stores what is known about one
//! source. The crate `sleep` is exercise 5: its `Timers` know all sleeps, wake
//! those that are due, and say when the next one is due.
//!
//! Import locks and atomics from `primitives`, as in exercise 2.
//!
//! # Contract
//!
//! 1. **Ready.** An event that makes a source ready in a direction wakes the
//!    futures that wait for that direction, even if the event comes before or
//!    during a poll. Reading and writing are independent. A hang-up or an error
//!    of a stream ends the wait in both directions.
//! 2. **A guess.** A spurious event does no harm: the future waits again. A
//!    listener or a UDP socket goes on after an error.
//! 3. **Nothing lost.** A future that's dropped before it's ready has moved no
//!    byte, has accepted no connection, and leaves no waker behind. The methods
//!    that make several calls, such as [`TcpStream::write_all`], say what they
//!    may have done.
//! 4. **Old registrations.** No event of a dropped source reaches another
//!    source, even one that has the same file descriptor or the same index in
//!    the driver. A dropped source causes no more events. No memory is lost
//!    with it, or with a source that the system refuses to watch.
//! 5. **Connect.** [`TcpStream::connect`] returns a connected stream, or the
//!    operating system's error for the attempt.
//! 6. **Accept.** If the system has no file descriptor or no memory left,
//!    [`TcpListener::accept`] returns the error, and the next call waits for 50
//!    ms before it tries again, without blocking its thread. If that call is
//!    dropped meanwhile, the call after it waits for the rest of the time. So a
//!    loop that goes on after errors doesn't spin, and it accepts the waiting
//!    connections once there are resources again. A connection that ended
//!    before it was accepted isn't reported.
//! 7. **Sleep.** A [`Sleep`] is never ready before its deadline. If a thread
//!    waits in the driver, the sleep's task is woken at most two milliseconds
//!    after the deadline, even while other events keep coming. A thread that
//!    waits for a deadline doesn't spin.
//! 8. **Unpark.** [`Handle::unpark`] ends the driver's current wait, or the
//!    next one, and no more than one. Neither a look nor a dispatch counts as a
//!    wait. A signal may end a wait, too, and does no other harm.
//! 9. **Shut down.** Shutting down or dropping the driver wakes all tasks that
//!    wait. Their operations on sources, and all later ones, return an error of
//!    the kind `NotConnected`. A sleep panics if its deadline hasn't come.
//! 10. **In turn.** A task with a budget (`with_budget` of exercise 8) yields
//!     when its time slice is over, even if its sources are always ready.
//! 11. **In two steps.** [`Driver::wait`] and [`Driver::look`] fetch events and
//!     wake no task. [`Driver::dispatch`] wakes the tasks of at most as many
//!     events as it's told, and returns `true` if events or due sleeps are
//!     left. Only a dispatch of [`usize::MAX`] wakes sleeps. `look` doesn't
//!     block the thread.
//! 12. **Free wakers.** Waking a task may run any code: code that registers and
//!     drops sources, that begins and drops sleeps, and that panics. After a
//!     panic, even one whose payload panics when it's dropped, the driver goes
//!     on with the next event.
//!
//! # Milestones
//!
//! You don't have to write everything before the first check passes. A check
//! that reaches a `todo!` counts as not written yet, and not as a failure.
//!
//! 1. **Sources.** Clauses 1 to 5, 8 and 10 to 12: sources are registered, the
//!    driver waits for their events, and tasks read and write.
//! 2. **Time.** Clause 7: sleeps, in the same wait.
//! 3. **Bad days.** Clauses 6 and 9: `accept` without a file descriptor, and
//!    the end of the driver.
//!
//! # Examples
//!
//! ```no_run
//! use std::net::Ipv4Addr;
//!
//! use exercise_16::{Driver, TcpListener, TcpStream};
//!
//! let runtime = work_stealing::Runtime::builder().build_on(Driver::new()?)?;
//! let heard = runtime.block_on(async {
//!     let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0).into())?;
//!     let address = listener.local_addr()?;
//!     work_stealing::spawn(async move {
//!         let (stream, _peer) = listener.accept().await?;
//!         stream.write_all(b"hello").await
//!     });
//!     let stream = TcpStream::connect(address).await?;
//!     let mut buffer = [0; 16];
//!     let count = stream.read(&mut buffer).await?;
//!     std::io::Result::Ok(buffer[..count].to_vec())
//! })?;
//! assert_eq!(heard, b"hello");
//! # Ok::<(), std::io::Error>(())
//! ```

// Given, as files of our solution: what users see of TCP, UDP and sleeps, the
// current handle of a thread, the driver in the form that exercise 14 wants,
// and kinds of errors. Copy those that you want to change.
#[path = "../../../solutions/16-reactor/src/context.rs"]
mod context;
#[allow(dead_code, reason = "you will use it")]
#[path = "../../../solutions/16-reactor/src/errors.rs"]
mod errors;
#[path = "../../../solutions/16-reactor/src/hook.rs"]
mod hook;
#[allow(dead_code, reason = "you will use it")]
#[path = "../../../solutions/16-reactor/src/sleep.rs"]
mod sleep;
#[path = "../../../solutions/16-reactor/src/tcp.rs"]
mod tcp;
#[cfg(test)]
mod tests;
#[path = "../../../solutions/16-reactor/src/udp.rs"]
mod udp;

use std::io;
use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Instant;

use ::sleep::Timers;
use errors::shut_down_error;
use mio::event::Source;
use mio::net;
use readiness::Direction;

pub use self::sleep::{Sleep, sleep, sleep_until};
pub use context::EnterGuard;
pub use tcp::{TcpListener, TcpStream};
pub use udp::UdpSocket;

/// Waits for events of sources, for deadlines, and for an unpark, all in one
/// system call.
///
/// A runtime of exercise 14 can be built on a driver, with
/// [`work_stealing::Builder::build_on`]. Without a runtime, the thread that
/// owns the driver calls [`wait`](Self::wait) and then
/// [`dispatch`](Self::dispatch), in a loop.
pub struct Driver {}

impl Driver {
    /// Creates a driver without sources.
    ///
    /// # Errors
    ///
    /// Returns the operating system's error if it can't create a poller, for
    /// example because the process has no file descriptor left.
    pub fn new() -> io::Result<Self> {
        todo!("a `mio::Poll`, and what the handles share with the driver")
    }

    /// Returns a handle to this driver.
    pub fn handle(&self) -> Handle {
        todo!(
            "the handles share the registry, the registrations and the timers"
        )
    }

    /// Blocks the thread until there are events, a sleep is due, or
    /// [`Handle::unpark`] is called. It may also return spuriously. It wakes no
    /// task: call [`dispatch`](Self::dispatch) next, until it returns `false`.
    ///
    /// # Panics
    ///
    /// If the operating system can't wait for events, which would be a bug.
    pub fn wait(&mut self) {
        todo!("fetch events, for as long as the next sleep leaves time")
    }

    /// Fetches events and looks at the timers without blocking. It wakes no
    /// task: call [`dispatch`](Self::dispatch) next, until it returns `false`.
    ///
    /// # Panics
    ///
    /// As for [`wait`](Self::wait).
    pub fn look(&mut self) {
        todo!("as `wait`, with a timeout of zero")
    }

    /// Wakes the tasks that wait for at most `most` of the fetched events. If
    /// `most` is [`usize::MAX`], also wakes the tasks whose sleeps are due.
    /// Returns `true` if events or due sleeps are left.
    pub fn dispatch(&mut self, most: usize) -> bool {
        let _ = most;
        todo!("for each event: find its source, and set its readiness")
    }

    /// Shuts the driver down, as clause 9 of the contract says. Dropping the
    /// driver does the same. Only the first call does something.
    pub fn shut_down(&mut self) {
        todo!("refuse new sources, wake all tasks; it's the third milestone")
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.shut_down();
    }
}

/// Registers sources and sleeps with a driver. A handle may outlive its driver:
/// registering a source then fails with [`NotConnected`], and a sleep panics.
///
/// [`NotConnected`]: io::ErrorKind::NotConnected
#[derive(Clone)]
pub struct Handle {}

impl Handle {
    /// Ends the current [`Driver::wait`], or the next one if no thread is
    /// waiting.
    pub fn unpark(&self) {
        todo!("a `mio::Waker` ends a wait")
    }

    /// Returns `true` if the driver has shut down.
    pub fn is_shut_down(&self) -> bool {
        todo!("a flag that the handles share with the driver")
    }

    /// Returns the timers of this driver's sleeps. Each sleep shares them.
    pub(crate) fn timers(&self) -> &Arc<Timers> {
        todo!("made with a function that ends the driver's wait")
    }
}

/// A source that stays registered with a driver until it's dropped.
pub(crate) struct Io<S: Source> {
    source: S,
}

impl<S: Source> Io<S> {
    /// Registers a stream: a hang-up makes it ready forever. After the driver
    /// has shut down, returns [`shut_down_error`], as all methods do.
    pub(crate) fn new_stream(source: S, handle: &Handle) -> io::Result<Self> {
        let _ = (source, handle, shut_down_error);
        todo!("register it for both directions, under a key of its own")
    }

    /// Registers a listener or a UDP socket, which goes on after an error.
    pub(crate) fn new(source: S, handle: &Handle) -> io::Result<Self> {
        let _ = (source, handle);
        todo!("the same, but it's never closed forever")
    }

    /// Returns a handle to the driver that this is registered with.
    pub(crate) fn handle(&self) -> &Handle {
        todo!("it's needed to deregister the source, too")
    }

    /// Waits for readiness and calls `attempt`, until the result is neither
    /// `WouldBlock` nor `Interrupted`. Any number of tasks may call this at the
    /// same time.
    pub(crate) async fn run<R>(
        &self,
        direction: Direction,
        attempt: impl FnMut(&S) -> io::Result<R>,
    ) -> io::Result<R> {
        let _ = (direction, attempt);
        todo!("a checkpoint, and then: wait, try, clear, again")
    }

    /// Like [`run`](Self::run), for an operation on up to `length` bytes. If
    /// fewer bytes were moved, you may save a system call: see the solution.
    pub(crate) async fn run_bytes(
        &self,
        direction: Direction,
        length: usize,
        attempt: impl FnMut(&S) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let _ = length;
        self.run(direction, attempt).await
    }

    /// Like [`run_bytes`](Self::run_bytes), as a poll. An event wakes only the
    /// task that polled last for its direction.
    pub(crate) fn poll_bytes(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
        length: usize,
        attempt: impl FnMut(&S) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        let _ = (cx, direction, length, attempt);
        todo!("as `run`, but the waker is stored by `poll_ready`")
    }

    /// Waits until the direction is ready. The next operation may still return
    /// `WouldBlock`, because readiness is a guess.
    pub(crate) async fn ready(&self, direction: Direction) -> io::Result<()> {
        let _ = direction;
        todo!("a checkpoint, and then: wait, and try nothing")
    }
}

impl<S: Source> Deref for Io<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.source
    }
}

impl<S: Source> Drop for Io<S> {
    /// The source is closed later, when the fields are dropped.
    fn drop(&mut self) {
        todo!("deregister the source; no event finds it from here on")
    }
}

/// Returns `WouldBlock` if the attempt to connect isn't over, and its error if
/// it has failed.
pub(crate) fn has_connected(stream: &net::TcpStream) -> io::Result<()> {
    let _ = stream;
    todo!("is there an error? Is there a peer?")
}

/// Accepts a connection. `paused_until` is the listener's own: you may store
/// there when to try again after an error.
pub(crate) async fn accept(
    listener: &Io<net::TcpListener>,
    paused_until: &Mutex<Option<Instant>>,
) -> io::Result<(net::TcpStream, SocketAddr)> {
    let _ = paused_until;
    match listener
        .run(Direction::Read, net::TcpListener::accept)
        .await
    {
        Err(error) if errors::is_of_the_system(&error) => {
            todo!("the next call has to pause; it's the third milestone")
        }
        Err(error) if errors::is_of_the_connection(&error) => {
            todo!("the next connection; it's the third milestone, too")
        }
        accepted => accepted,
    }
}
