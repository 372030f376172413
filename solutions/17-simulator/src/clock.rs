//! A clock that stands still until it's told to go on.

use std::collections::BTreeMap;
use std::task::Waker;
use std::time::Duration;

// ANCHOR: clock
/// Virtual time, and the wakers that wait for it. It starts at zero.
#[derive(Default)]
pub struct Clock {
    now: Duration,
    /// The wakers in the order of their deadlines.
    waiting: BTreeMap<Timer, Waker>,
    timer_count: u64,
}

/// A waker's place in the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timer {
    deadline: Duration,
    /// Distinguishes the timers of one deadline, and orders them.
    serial: u64,
}

impl Clock {
    /// Creates a clock that shows zero and on which nothing waits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the time that has passed since the clock was made.
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Stores a waker that is due at `deadline`.
    pub fn wake_at(&mut self, deadline: Duration, waker: Waker) -> Timer {
        self.timer_count += 1;
        let timer = Timer {
            deadline,
            serial: self.timer_count,
        };
        self.waiting.insert(timer, waker);
        timer
    }

    /// Takes a waker out again, unless it was due already.
    pub fn cancel(&mut self, timer: Timer) -> Option<Waker> {
        self.waiting.remove(&timer)
    }

    /// Returns the earliest deadline that a waker waits for.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.waiting.keys().next().map(|timer| timer.deadline)
    }

    /// Sets the clock to `time`, unless it shows a later time already. Takes
    /// out the wakers that are due, in the order of their deadlines.
    pub fn advance_to(&mut self, time: Duration) -> Vec<Waker> {
        self.now = self.now.max(time);
        let mut due = Vec::new();
        while let Some(first) = self.waiting.first_entry() {
            if first.key().deadline > self.now {
                break;
            }
            due.push(first.remove());
        }
        due
    }
}
// ANCHOR_END: clock
