//! What the recorder costs: an event that is recorded, and one that isn't because
//! nothing is. Beside them, what reading the clock costs, and a relaxed load.
//!
//! `cargo run --release -p trace --example cost`

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Instant;

use trace::queue::{self, Queue};

const TIMES: u32 = 2_000;
const ROUNDS: u32 = 200;

static SOMETHING: AtomicU32 = AtomicU32::new(0);

/// The fastest of many rounds: what the machine does besides isn't ours.
fn measure(what: &str, work: impl Fn()) {
    let round = |_| {
        let start = Instant::now();
        (0..TIMES).for_each(|_| work());
        start.elapsed().as_nanos()
    };
    let least = (0..ROUNDS).map(round).min().unwrap_or(0);
    println!("{what:32} {:6.2} ns", least as f64 / f64::from(TIMES));
}

fn main() {
    SOMETHING.store(black_box(0), Relaxed); // or else it would be a constant
    measure("a relaxed load and a branch", || {
        if SOMETHING.load(Relaxed) != 0 {
            black_box(());
        }
    });
    measure("a push while nothing is recorded", || {
        queue::pushed(Queue::Local)
    });
    measure("reading the clock", || {
        black_box(Instant::now());
    });
    // A buffer holds fewer events than all rounds together would make.
    let least = (0..ROUNDS).map(|_| {
        let recording = trace::record("cost", "by hand", 1);
        queue::started(0);
        let start = Instant::now();
        (0..TIMES).for_each(|_| queue::pushed(Queue::Local));
        let took = start.elapsed().as_nanos();
        assert_eq!(recording.finish().dropped(), 0);
        took
    });
    let least = least.min().unwrap_or(0) as f64 / f64::from(TIMES);
    println!("{:32} {least:6.2} ns", "a push that is recorded");
}
