//! When a busy worker takes from the injector, and how much.
//!
//! It can look after each poll: as long as nothing comes from outside, that's
//! two loads of lines that no thread writes to. Taking something costs a lock,
//! and the tasks that were taken delay the worker's own. So a worker that has
//! taken some tasks lets twice as many polls pass: half of its polls are for
//! its own tasks, no matter how many come from outside. An occasional task is
//! taken after the current poll, no matter how long polls are. No clock is
//! read.

use std::cell::Cell;

pub struct Pace {
    /// It's time after so many polls at the latest.
    interval: u32,
    /// Since it last took.
    polls: Cell<u32>,
    /// How many there have to be.
    pause: Cell<u32>,
}

impl Pace {
    pub fn new(interval: u32) -> Self {
        Self {
            interval,
            polls: Cell::new(0),
            pause: Cell::new(0),
        }
    }

    /// To be called for each poll.
    #[inline]
    pub fn count_poll(&self) {
        self.polls.set(self.polls.get().saturating_add(1));
    }

    // ANCHOR: pace
    /// Returns `true` if the worker may take what has come.
    #[inline]
    pub fn is_time(&self) -> bool {
        self.polls.get() >= self.pause.get()
    }

    /// As many as keep the pace within an interval.
    pub fn most(&self) -> usize {
        self.interval as usize / 2
    }

    /// So many tasks were taken.
    pub fn took(&self, count: usize) {
        let twice = u32::try_from(2 * count).unwrap_or(u32::MAX);
        self.polls.set(0);
        self.pause.set(twice.min(self.interval));
    }
    // ANCHOR_END: pace

    /// The worker had nothing to do: what comes now is taken at once.
    pub fn restart(&self) {
        self.pause.set(0);
    }
}
