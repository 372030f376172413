//! A driver that waits for events only.

use std::time::Duration;

use super::timers::Timers;

pub struct Deadlines;

impl Deadlines {
    pub fn new(_timers: Timers) -> Self {
        Self
    }

    pub fn look(&mut self) {}

    pub fn left(&self) -> Option<Duration> {
        None
    }

    pub fn is_due(&self) -> bool {
        false
    }

    pub fn fire(&mut self) {}

    pub fn fire_all(&mut self) {}
}
