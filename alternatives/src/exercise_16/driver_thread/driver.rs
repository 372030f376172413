//! The driver, and the thread that waits for it.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use mio::{Events, Poll, Token, Waker};
use primitives::Mutex;
use primitives::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};

use super::deadlines::Deadlines;
use super::handle::{Handle, Shared};
use super::registrations::RESERVED;
use super::timers::Timers;
use super::wake_up::{Fetched, WakeUp};
use readiness::Event;

/// Dispatches the events that its thread has fetched.
pub struct Driver {
    shared: Arc<Shared>,
    fetched: VecDeque<Fetched>,
    deadlines: Deadlines,
    /// Ends the thread's wait.
    waker: Waker,
    is_over: Arc<AtomicBool>,
    /// `None` after the end.
    thread: Option<JoinHandle<()>>,
}

impl Driver {
    /// Creates a driver without sources, and its thread.
    pub fn new() -> io::Result<Self> {
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), Token(RESERVED))?;
        let wake_up = Arc::new(WakeUp::default());
        let interrupts = wake_up.clone();
        let timers = Timers::new(move || interrupts.unpark());
        let shared = Shared {
            registry: poll.registry().try_clone()?,
            registrations: Mutex::default(),
            wake_up: wake_up.clone(),
            timers: timers.clone(),
            is_shut_down: AtomicBool::new(false),
        };
        let is_over = Arc::new(AtomicBool::new(false));
        let over = is_over.clone();
        let thread = thread::Builder::new().name("events".to_owned());
        let thread = thread.spawn(move || fetch(poll, &wake_up, &over))?;
        Ok(Self {
            shared: Arc::new(shared),
            fetched: VecDeque::new(),
            deadlines: Deadlines::new(timers),
            waker,
            is_over,
            thread: Some(thread),
        })
    }

    /// Returns a handle to this driver.
    pub fn handle(&self) -> Handle {
        Handle::new(self.shared.clone())
    }

    /// Blocks the thread until there are events, a sleep is due, or it's
    /// unparked.
    pub fn wait(&mut self) {
        // A sleep that begins after this look leaves a token.
        self.deadlines.look();
        let left = self.deadlines.left();
        self.shared.wake_up.wait(left, &mut self.fetched);
    }

    /// Takes the events that are there.
    pub fn look(&mut self) {
        self.deadlines.look();
        self.shared.wake_up.take(&mut self.fetched);
    }

    /// Wakes the tasks of at most `most` events.
    pub fn dispatch(&mut self, most: usize) -> bool {
        for _ in 0..most {
            let Some(fetched) = self.fetched.pop_front() else {
                break;
            };
            let key = fetched.key;
            let registered = self.shared.registrations().get(key).cloned();
            if let Some(registered) = registered {
                let event = event_of(&fetched, registered.is_stream);
                wake(|| registered.readiness.set_ready(event));
            }
        }
        if !self.fetched.is_empty() {
            return true;
        }
        let is_due = self.deadlines.is_due();
        if is_due && most == usize::MAX {
            self.deadlines.fire();
        }
        is_due && most != usize::MAX
    }

    /// Shuts the driver down, and ends its thread.
    pub fn shut_down(&mut self) {
        let Some(thread) = self.thread.take() else {
            return;
        };
        self.shared.shut_down();
        self.deadlines.fire_all();
        // Release: pairs with the Acquire in `fetch`.
        self.is_over.store(true, Release);
        self.waker.wake().expect("the system can wake its poller");
        let _ended = thread.join();
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.shut_down();
    }
}

/// Waits for events until the driver ends.
fn fetch(mut poll: Poll, wake_up: &WakeUp, is_over: &AtomicBool) {
    let mut events = Events::with_capacity(1_024);
    // Acquire: pairs with the Release in `Driver::shut_down`.
    while !is_over.load(Acquire) {
        match poll.poll(&mut events, None) {
            Ok(()) => wake_up.push(events.iter()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => unreachable!("it can't wait for events: {error}"),
        }
    }
}

/// Calls wakers, and catches their panics.
pub fn wake(wake: impl FnOnce()) {
    let woken = catch_unwind(AssertUnwindSafe(wake));
    woken.unwrap_or_else(mem::forget);
}

fn event_of(fetched: &Fetched, is_stream: bool) -> Event {
    Event {
        readable: fetched.readable,
        writable: fetched.writable,
        read_closed: is_stream && fetched.read_closed,
        write_closed: is_stream && fetched.write_closed,
        error: fetched.error || fetched.read_closed && !is_stream,
    }
}
