//! A driver whose poller reports only what tasks wait for.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::deadlines::Deadlines;
use super::handle::{Handle, Shared};
use super::poller::{Found, Poller};
use super::timers::Timers;

/// Waits for events, for deadlines, and for an unpark.
pub struct Driver {
    shared: Arc<Shared>,
    found: VecDeque<Found>,
    deadlines: Deadlines,
    is_shut_down: bool,
}

impl Driver {
    /// Creates a driver without sources.
    pub fn new() -> io::Result<Self> {
        let poller = Arc::new(Poller::new()?);
        let interrupts = poller.clone();
        let timers = Timers::new(move || interrupts.notify());
        let shared = Shared::new(poller, timers.clone());
        Ok(Self {
            shared: Arc::new(shared),
            found: VecDeque::new(),
            deadlines: Deadlines::new(timers),
            is_shut_down: false,
        })
    }

    /// Returns a handle to this driver.
    pub fn handle(&self) -> Handle {
        Handle::new(self.shared.clone())
    }

    /// Blocks the thread until there are events, a sleep is due, or it's
    /// unparked.
    pub fn wait(&mut self) {
        // A sleep that begins after this look ends the next wait at once.
        self.deadlines.look();
        // A look may have taken the poller's notification.
        let left = match self.shared.take_token() {
            true => Some(Duration::ZERO),
            false => self.deadlines.left(),
        };
        self.fetch(left);
        self.shared.take_token();
    }

    /// Fetches events without blocking.
    pub fn look(&mut self) {
        self.deadlines.look();
        self.fetch(Some(Duration::ZERO));
    }

    /// Wakes the tasks of at most `most` events.
    pub fn dispatch(&mut self, most: usize) -> bool {
        for _ in 0..most {
            let Some(found) = self.found.pop_front() else {
                break;
            };
            if let Some(registered) = self.shared.find(found.key) {
                wake(|| registered.set_ready(&found));
            }
        }
        if !self.found.is_empty() {
            return true;
        }
        let is_due = self.deadlines.is_due();
        if is_due && most == usize::MAX {
            self.deadlines.fire();
        }
        is_due && most != usize::MAX
    }

    /// Shuts the driver down.
    pub fn shut_down(&mut self) {
        if !mem::replace(&mut self.is_shut_down, true) {
            self.shared.shut_down();
            self.deadlines.fire_all();
        }
    }

    fn fetch(&mut self, timeout: Option<Duration>) {
        let mut found = Vec::new();
        self.shared.poller.wait(timeout, &mut found);
        self.found.extend(found);
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.shut_down();
    }
}

/// Calls wakers, and catches their panics.
pub fn wake(wake: impl FnOnce()) {
    let woken = catch_unwind(AssertUnwindSafe(wake));
    woken.unwrap_or_else(mem::forget);
}
