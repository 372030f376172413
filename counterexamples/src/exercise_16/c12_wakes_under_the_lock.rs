//! Breaks clause 12: Free wakers.
//! Caught by: tests::a_waker_may_use_the_driver
//!
//! The registration is looked up and used in one expression. The guard of the
//! lock is a temporary value in the head of an `if let`, and lives until the end
//! of its block: a waker that drops or registers a source waits for its caller.

#[path = "../../../solutions/16-reactor/src/accept.rs"]
mod accept;
#[path = "../../../solutions/16-reactor/src/connect.rs"]
mod connect;
#[path = "../../../solutions/16-reactor/src/context.rs"]
mod context;
#[path = "../../../solutions/16-reactor/src/deadlines.rs"]
mod deadlines;
#[path = "../../../solutions/16-reactor/src/errors.rs"]
mod errors;
#[path = "../../../solutions/16-reactor/src/handle.rs"]
mod handle;
#[path = "../../../solutions/16-reactor/src/hook.rs"]
mod hook;
#[path = "../../../solutions/16-reactor/src/io.rs"]
mod io;
#[path = "../../../solutions/16-reactor/src/registrations.rs"]
mod registrations;
#[path = "../../../solutions/16-reactor/src/shutdown.rs"]
mod shutdown;
#[path = "../../../solutions/16-reactor/src/sleep.rs"]
mod sleep;
#[path = "../../../solutions/16-reactor/src/tcp.rs"]
mod tcp;
#[cfg(test)]
#[path = "../../../exercises/16-reactor/src/tests/mod.rs"]
mod tests;
#[path = "../../../solutions/16-reactor/src/timers.rs"]
mod timers;
#[path = "../../../solutions/16-reactor/src/udp.rs"]
mod udp;
#[path = "../../../solutions/16-reactor/src/wake_up.rs"]
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

mod driver {
    //! The driver: it waits for events of sources and for deadlines.

    use std::io;
    use std::mem;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::time::Duration;

    use mio::{Events, Poll};
    use primitives::Mutex;
    use primitives::atomic::AtomicBool;

    use super::deadlines::Deadlines;
    use super::handle::{Handle, Shared};
    use super::registrations::RESERVED;
    use super::timers::Timers;
    use super::wake_up::WakeUp;
    use readiness::Event;

    /// The most events that one system call fetches.
    const EVENTS: usize = 1_024;

    /// Waits for events of sources, for deadlines, and for an unpark, all in one
    /// system call.
    ///
    /// A runtime of exercise 14 can be built on a driver, with
    /// [`work_stealing::Builder::build_on`]. Without a runtime, the thread that
    /// owns the driver calls [`wait`](Self::wait) and then
    /// [`dispatch`](Self::dispatch), in a loop.
    pub struct Driver {
        shared: Arc<Shared>,
        poll: Poll,
        events: Events,
        /// How many of the events have been dispatched.
        dispatched: usize,
        deadlines: Deadlines,
        is_shut_down: bool,
    }

    impl Driver {
        /// Creates a driver without sources.
        ///
        /// # Errors
        ///
        /// Returns the operating system's error if it can't create a poller, for
        /// example because the process has no file descriptor left.
        pub fn new() -> io::Result<Self> {
            let poll = Poll::new()?;
            let wake_up = Arc::new(WakeUp::new(poll.registry(), RESERVED)?);
            let interrupts = wake_up.clone();
            let timers = Timers::new(move || interrupts.unpark_if_waiting());
            let shared = Shared {
                registry: poll.registry().try_clone()?,
                registrations: Mutex::default(),
                wake_up,
                timers: timers.clone(),
                is_shut_down: AtomicBool::new(false),
            };
            Ok(Self {
                shared: Arc::new(shared),
                poll,
                events: Events::with_capacity(EVENTS),
                dispatched: 0,
                deadlines: Deadlines::new(timers),
                is_shut_down: false,
            })
        }

        /// Returns a handle to this driver.
        pub fn handle(&self) -> Handle {
            Handle::new(self.shared.clone())
        }

        /// Blocks the thread until there are events, a sleep is due, or
        /// [`Handle::unpark`] is called. It may also return spuriously. It wakes no
        /// task: call [`dispatch`](Self::dispatch) next.
        ///
        /// # Panics
        ///
        /// If the operating system can't wait for events, which would be a bug.
        pub fn wait(&mut self) {
            if self.shared.wake_up.begin_wait() {
                // After `begin_wait`, so that a sleep that begins after this look
                // finds WAITING and interrupts the wait.
                self.deadlines.look();
                self.fetch(self.deadlines.left());
            } else {
                self.look();
            }
            self.shared.wake_up.end_wait();
        }

        /// Fetches events and looks at the timers without blocking. It wakes no
        /// task: call [`dispatch`](Self::dispatch) next.
        ///
        /// # Panics
        ///
        /// As for [`wait`](Self::wait).
        pub fn look(&mut self) {
            self.deadlines.look();
            self.fetch(Some(Duration::ZERO));
        }

        /// Wakes the tasks that wait for at most `most` of the fetched events. If
        /// `most` is [`usize::MAX`], also wakes the tasks whose sleeps are due.
        /// Returns `true` if events or due sleeps are left.
        // ANCHOR: dispatch
        pub fn dispatch(&mut self, most: usize) -> bool {
            let mut events = self.events.iter().skip(self.dispatched);
            for event in events.by_ref().take(most) {
                self.dispatched += 1;
                let key = event.token().0;
                // ANCHOR: guilty
                if let Some(registered) = self.shared.registrations().get(key) {
                // ANCHOR_END: guilty
                    let event = event_of(event, registered.is_stream);
                    wake(|| registered.readiness.set_ready(event));
                }
            }
            if events.next().is_some() {
                return true;
            }
            if !self.deadlines.is_due() {
                return false;
            }
            if most == usize::MAX {
                self.deadlines.fire();
            }
            most != usize::MAX
        }
        // ANCHOR_END: dispatch

        /// Shuts the driver down, as clause 9 of the contract says. Dropping the
        /// driver does the same.
        pub fn shut_down(&mut self) {
            if self.is_shut_down {
                return;
            }
            self.is_shut_down = true;
            self.shared.shut_down();
            // Last: an `accept` in its pause asks then whether it goes on.
            self.deadlines.fire_all();
        }

        fn fetch(&mut self, timeout: Option<Duration>) {
            self.dispatched = 0;
            // mio rounds the timeout up to milliseconds, so no sleep is early.
            let Err(error) = self.poll.poll(&mut self.events, timeout) else {
                return;
            };
            self.events.clear();
            if error.kind() != io::ErrorKind::Interrupted {
                unreachable!("the system can't wait for events: {error}");
            }
        }
    }

    impl Drop for Driver {
        fn drop(&mut self) {
            self.shut_down();
        }
    }

    /// Calls wakers, which may run any code. A panic concerns only the tasks that
    /// wait for the same source. It must not end the thread that has the driver,
    /// because without that thread, no source and no sleep would wake a task.
    pub fn wake(wake: impl FnOnce()) {
        let woken = catch_unwind(AssertUnwindSafe(wake));
        // The panic's payload may itself panic when it's dropped.
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(woken)));
        dropped.unwrap_or_else(mem::forget);
    }

    fn event_of(event: &mio::event::Event, is_stream: bool) -> Event {
        Event {
            readable: event.is_readable(),
            writable: event.is_writable(),
            // A listener or a UDP socket goes on after an error. If it counted as
            // closed forever, a task that gets `WouldBlock` would spin.
            read_closed: is_stream && event.is_read_closed(),
            write_closed: is_stream && event.is_write_closed(),
            error: event.is_error() || event.is_read_closed() && !is_stream,
        }
    }
}
