//! The queue between the thread that waits for events and the driver.

use std::collections::VecDeque;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use mio::event::Event;
use primitives::{Condvar, Mutex, MutexGuard};

/// An event, as long as it isn't known whose it is.
pub struct Fetched {
    pub key: usize,
    pub readable: bool,
    pub writable: bool,
    pub read_closed: bool,
    pub write_closed: bool,
    pub error: bool,
}

/// Events and a token, which both end the driver's wait.
#[derive(Default)]
pub struct WakeUp {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    events: VecDeque<Fetched>,
    has_token: bool,
}

impl WakeUp {
    /// Leaves a token, which ends the current wait or the next one.
    pub fn unpark(&self) {
        self.lock().has_token = true;
        self.changed.notify_one();
    }

    /// Adds events.
    pub fn push<'a>(&self, events: impl Iterator<Item = &'a Event>) {
        let mut state = self.lock();
        state.events.extend(events.map(|event| Fetched {
            key: event.token().0,
            readable: event.is_readable(),
            writable: event.is_writable(),
            read_closed: event.is_read_closed(),
            write_closed: event.is_write_closed(),
            error: event.is_error(),
        }));
        drop(state);
        self.changed.notify_one();
    }

    /// Waits until there are events or a token, at most for the given time.
    /// Moves the events, and takes the token.
    pub fn wait(&self, left: Option<Duration>, to: &mut VecDeque<Fetched>) {
        let until = left.map(|left| Instant::now() + left);
        let mut state = self.lock();
        while state.events.is_empty() && !state.has_token {
            let Some(until) = until else {
                let woken = self.changed.wait(state);
                state = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let woken = self.changed.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.has_token = false;
        to.append(&mut state.events);
    }

    /// Moves the events.
    pub fn take(&self, to: &mut VecDeque<Fetched>) {
        to.append(&mut self.lock().events);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
