//! Timers that get the time as an argument: ten years in no time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A deadline, and a number that tells equal deadlines apart.
type Key = (Instant, u64);

#[derive(Default)]
struct Timers {
    /// A name stands for the waker.
    sleeps: BTreeMap<Key, &'static str>,
}

impl Timers {
    /// Wakes everything that is due at `now`. Returns when to call it again.
    fn fire(&mut self, now: Instant) -> Option<Instant> {
        while let Some(first) = self.sleeps.first_entry() {
            let (deadline, _) = *first.key();
            if deadline > now {
                return Some(deadline);
            }
            let name = first.remove();
            println!("{name}");
        }
        None
    }
}

fn main() {
    let start = Instant::now();
    let hour = Duration::from_secs(3_600);
    let mut timers = Timers::default();
    let sleeps = [("ten years", 87_600), ("an hour", 1), ("an hour, too", 1)];
    for (number, (name, hours)) in (0..).zip(sleeps) {
        timers.sleeps.insert((start + hour * hours, number), name);
    }
    let mut now = start;
    let mut calls = 1;
    while let Some(next) = timers.fire(now) {
        now = next;
        calls += 1;
    }
    println!("{calls} calls of `fire`");
}
