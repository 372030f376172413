//! Solution 16: a reactor, TCP, UDP and timers on it.
//!
//! `driver` waits for events, and `registrations` knows which source an event
//! is of. Exercise 15's readiness is what an event changes and a task waits
//! for, and `io` is what a task does with a source. On that are `tcp`, `udp`
//! and `sleep`.
//!
//! The driver is built on mio, which reports edges: an event says that a source
//! *became* ready, and there's no other one until a call on the source has
//! returned `WouldBlock`. On Linux a read or write that moved less than it was
//! asked for does as well. With one-shot events, as the crate polling has them,
//! each wait would cost a system call to ask for the next event. In return, the
//! race between that event and the task's `WouldBlock` is ours: that's what
//! `Readiness::clear` is for.
//!
//! # Contract
//!
//! 1. **Ready.** A future that waits for a source is woken when the source
//!    becomes ready for its direction, no matter when: before it's polled,
//!    during its poll, after it. Reading and writing are independent. A hang-up
//!    or an error ends the wait for both.
//! 2. **A guess.** An event that's wrong does no harm: the future waits again.
//! 3. **Nothing lost.** A future that is dropped before it was ready has moved
//!    no byte, has accepted no connection, and leaves no waker behind.
//! 4. **Old registrations.** No event of a source that is gone reaches another
//!    one, even if that has the same file descriptor or the same place here.
//! 5. **Connect.** [`TcpStream::connect`] returns a stream that is connected,
//!    or the error that the system has for the attempt.
//! 6. **Accept.** If the system has no file descriptor or no memory left,
//!    [`TcpListener::accept`] returns the error, and the next call waits for 50
//!    ms before it tries again. A loop that goes on after errors doesn't spin,
//!    and accepts what has come once there are resources again. A connection
//!    that ended before it was accepted is no error.
//! 7. **Sleep.** A [`Sleep`] is never ready before its deadline, and is woken
//!    at most two milliseconds after it if a thread waits in the driver. A
//!    thread that waits for a deadline doesn't spin.
//! 8. **Unpark.** [`Handle::unpark`] ends the wait that's under way in the
//!    driver, or the next one.
//! 9. **Shut down.** When the driver has shut down, or is dropped, all that
//!    wait are woken. What they, and all later ones, wait for gives an error
//!    of the kind `NotConnected`; a sleep panics.
//! 10. **In turn.** Tasks of `with_budget` of exercise 8 yield when their slice
//!     is over, even if their sources are always ready.
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

mod driver;
mod handle;
mod io;
mod registrations;
mod sleep;
mod tcp;
mod udp;
mod wake_up;

pub use driver::Driver;
pub use handle::{EnterGuard, Handle};
pub use sleep::{Sleep, sleep, sleep_until};
pub use tcp::{TcpListener, TcpStream};
pub use udp::UdpSocket;
