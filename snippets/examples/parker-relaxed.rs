//! Passes a number to another thread, announced by a flag, all `Relaxed`.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

static DATA: AtomicU32 = AtomicU32::new(0);
static FLAG: AtomicU32 = AtomicU32::new(0);
static TAKEN: AtomicU32 = AtomicU32::new(0);

const ROUNDS: u32 = 100_000;

/// Waits until `flag` is `round`.
fn wait_for(flag: &AtomicU32, round: u32) {
    while flag.load(Relaxed) != round {
        thread::yield_now();
    }
}

fn main() {
    let writer = thread::spawn(|| {
        for round in 1..=ROUNDS {
            DATA.store(round, Relaxed);
            FLAG.store(round, Relaxed);
            wait_for(&TAKEN, round);
        }
    });
    let mut stale = 0;
    for round in 1..=ROUNDS {
        wait_for(&FLAG, round);
        if DATA.load(Relaxed) != round {
            stale += 1;
        }
        TAKEN.store(round, Relaxed);
    }
    writer.join().unwrap();
    println!("old data seen in {stale} of {ROUNDS} rounds");
}
