//! Solution 16: a reactor, with TCP, UDP and timers.
//!
//! `driver` waits for events, and for the first of the `deadlines`, which come
//! from the `timers`; `wake_up` ends its wait. `registrations` finds the source
//! of an event. An event sets the readiness of its source (exercise 15), and
//! tasks wait for that. `handle` registers sources. `io` tries an operation and waits if
//! it would block; `connect` and `accept` say how two of these operations end.
//! `shutdown` is the end.
//!
//! The other files are given to the reader: `tcp`, `udp` and `sleep` are what
//! users see, `context` is the current handle of a thread, `hook` makes the
//! driver one of exercise 14, and `errors` tells kinds of errors apart.
//!
//! The driver is built on mio, which is edge-triggered: an event says that a
//! source *became* ready, and the next event is certain to come only after a
//! call on the source has returned `WouldBlock`. On Linux, a read or write that
//! moved fewer bytes than it was asked for counts as such a call. With one-shot
//! events, as in the crate polling, each wait would cost a system call that
//! asks for the next event. Edge-triggering saves that call, but leaves us the
//! race between an event and a task's `WouldBlock`, which `Readiness::clear`
//! resolves.
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
//! # Examples
//!
//! ```
//! use std::net::Ipv4Addr;
//!
//! use solution_16::{Driver, TcpListener, TcpStream};
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

mod accept;
mod connect;
mod context;
mod deadlines;
mod driver;
mod errors;
mod handle;
mod hook;
mod io;
mod registrations;
mod shutdown;
mod sleep;
mod tcp;
#[cfg(test)]
#[path = "../../../exercises/16-reactor/src/tests/mod.rs"]
mod tests;
mod timers;
mod udp;
mod uninit;
mod wake_up;

use accept::accept;
use connect::has_connected;
use errors::shut_down_error;
use io::Io;

pub use self::sleep::{Sleep, sleep, sleep_until};
pub use context::EnterGuard;
pub use driver::Driver;
pub use handle::Handle;
pub use tcp::{TcpListener, TcpStream};
pub use udp::UdpSocket;
