//! The deadlines of sleeps, as the driver sees them.

use std::time::{Duration, Instant};

use super::timers::Timers;

/// Asks the timers, which the driver's handles share.
pub struct Deadlines {
    timers: Timers,
    /// When the next sleep is due, as of the last look.
    next: Option<Instant>,
    /// A time before every deadline that a task still waits for.
    past: Instant,
}

impl Deadlines {
    pub fn new(timers: Timers) -> Self {
        Self {
            timers,
            next: None,
            past: Instant::now(),
        }
    }

    /// Asks for the first deadline. Wakes no task.
    pub fn look(&mut self) {
        // No sleep is due at that time, so this call wakes no task: it only
        // returns when the next sleep is due.
        self.next = self.timers.fire(self.past);
    }

    /// Returns the time that's left until the first deadline, as of the last
    /// look.
    pub fn left(&self) -> Option<Duration> {
        let now = Instant::now();
        let next = self.next?;
        Some(next.saturating_duration_since(now))
    }

    /// Returns `true` if a sleep is due.
    pub fn is_due(&self) -> bool {
        self.next.is_some_and(|next| next <= Instant::now())
    }

    /// Wakes the tasks whose sleeps are due.
    pub fn fire(&mut self) {
        self.next = self.timers.fire(Instant::now());
    }

    /// Wakes all tasks that sleep.
    pub fn fire_all(&mut self) {
        const LONG: Duration = Duration::from_secs(200 * 365 * 24 * 60 * 60);
        let end_of_time = self.past.checked_add(LONG);
        self.timers.fire(end_of_time.unwrap_or(self.past));
    }
}
