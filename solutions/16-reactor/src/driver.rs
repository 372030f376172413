//! The driver: what waits for events and for the time.

use std::any::Any;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mio::{Events, Poll};
use timers::Timers;

use super::handle::{Handle, Shared};
use super::registrations::RESERVED;
use super::wake_up::WakeUp;
use readiness::Event;

/// So many events are fetched with one call.
const EVENTS: usize = 1_024;

/// Waits for events of sources, for deadlines, and for an unpark: all in one
/// call of the system.
///
/// A runtime of exercise 14 can be built on it. Without one, whoever has it
/// calls [`wait`](Self::wait) and then [`dispatch`](Self::dispatch).
pub struct Driver {
    shared: Arc<Shared>,
    poll: Poll,
    events: Events,
    /// How many of the events have been dispatched.
    dispatched: usize,
    /// When the next sleep is due, as of the last look.
    next_deadline: Option<Instant>,
    /// A time at which nothing that waits is due.
    past: Instant,
}

impl Driver {
    /// Makes a driver without sources.
    ///
    /// # Errors
    ///
    /// If the system has no file descriptor left for it.
    pub fn new() -> io::Result<Self> {
        let poll = Poll::new()?;
        let wake_up = Arc::new(WakeUp::new(poll.registry(), RESERVED)?);
        let interrupts = wake_up.clone();
        let shared = Shared {
            registry: poll.registry().try_clone()?,
            registrations: Mutex::default(),
            wake_up,
            timers: Timers::new(move || interrupts.unpark_if_waiting()),
            is_shut_down: AtomicBool::new(false),
        };
        Ok(Self {
            shared: Arc::new(shared),
            poll,
            events: Events::with_capacity(EVENTS),
            dispatched: 0,
            next_deadline: None,
            past: Instant::now(),
        })
    }

    /// Makes a handle.
    pub fn handle(&self) -> Handle {
        Handle::new(self.shared.clone())
    }

    // ANCHOR: wait
    /// Waits until there are events, a sleep is due, or [`Handle::unpark`] is
    /// called. It may also return for no reason.
    pub fn wait(&mut self) {
        if self.shared.wake_up.begin_wait() {
            // Not before: a sleep that begins after this look sees that we
            // wait.
            self.look_at_timers();
            let left = |deadline: Instant| {
                deadline.saturating_duration_since(Instant::now())
            };
            self.fetch(self.next_deadline.map(left));
        } else {
            self.look();
        }
        self.shared.wake_up.end_wait();
    }
    // ANCHOR_END: wait

    /// Looks for events without waiting.
    pub fn look(&mut self) {
        self.look_at_timers();
        self.fetch(Some(Duration::ZERO));
    }

    /// Wakes the tasks of at most `most` of the sources that have events, and,
    /// if `most` is [`usize::MAX`], of all sleeps that are due. Returns `true`
    /// if it has left any.
    pub fn dispatch(&mut self, most: usize) -> bool {
        let mut events = self.events.iter().skip(self.dispatched);
        for event in events.by_ref().take(most) {
            self.dispatched += 1;
            // Not under the lock: a waker may do anything.
            let key = event.token().0;
            let registered = self.shared.registrations().get(key).cloned();
            if let Some(registered) = registered {
                let event = event_of(event, registered.is_stream);
                registered.readiness.set_ready(event);
            }
        }
        if events.next().is_some() {
            return true;
        }
        let is_due = |deadline| deadline <= Instant::now();
        if !self.next_deadline.is_some_and(is_due) {
            return false;
        }
        if most == usize::MAX {
            self.next_deadline = self.shared.timers.fire(Instant::now());
        }
        most != usize::MAX
    }

    fn look_at_timers(&mut self) {
        // Nothing is due at that time: this wakes no sleep, and only says when
        // the next one is due.
        self.next_deadline = self.shared.timers.fire(self.past);
    }

    fn fetch(&mut self, timeout: Option<Duration>) {
        self.dispatched = 0;
        // mio rounds a timeout up to milliseconds.
        let Err(error) = self.poll.poll(&mut self.events, timeout) else {
            return;
        };
        self.events.clear();
        if error.kind() != io::ErrorKind::Interrupted {
            unreachable!("the system can't wait for events: {error}");
        }
    }

    /// Ends the driver: all that wait are woken.
    fn end(&mut self) {
        self.shared.shut_down();
        // All that sleep. They see that the driver has ended.
        const LONG: Duration = Duration::from_secs(200 * 365 * 24 * 60 * 60);
        let end_of_time = self.past.checked_add(LONG);
        self.shared.timers.fire(end_of_time.unwrap_or(self.past));
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.end();
    }
}

impl work_stealing::Driver for Driver {
    fn unparker(&self) -> Box<dyn Fn() + Send + Sync> {
        let wake_up = self.shared.wake_up.clone();
        Box::new(move || wake_up.unpark())
    }

    fn handle(&self) -> Arc<dyn Any + Send + Sync> {
        self.shared.clone()
    }

    fn wait(&mut self) {
        self.wait();
    }

    fn look(&mut self) {
        self.look();
    }

    fn dispatch(&mut self, most: usize) -> bool {
        self.dispatch(most)
    }

    fn shut_down(&mut self) {
        self.end();
    }
}

fn event_of(event: &mio::event::Event, is_stream: bool) -> Event {
    Event {
        readable: event.is_readable(),
        writable: event.is_writable(),
        // What isn't a stream goes on after an error. Were it closed for ever,
        // a task that gets `WouldBlock` would spin.
        read_closed: is_stream && event.is_read_closed(),
        write_closed: is_stream && event.is_write_closed(),
        error: event.is_error() || event.is_read_closed() && !is_stream,
    }
}
