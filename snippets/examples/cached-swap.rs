//! What an atomic swap costs, beside a plain one.

use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const TIMES: u32 = 10_000_000;

fn main() {
    let atomic = AtomicBool::new(false);
    let swaps = time(|| {
        black_box(&atomic).swap(true, Ordering::Relaxed);
    });
    println!("an atomic swap: {:.2} ns", per_time(swaps));

    let plain = Cell::new(false);
    let replaces = time(|| {
        black_box(&plain).replace(true);
    });
    println!("a plain one: {:.2} ns", per_time(replaces));
}

fn time(work: impl Fn()) -> Duration {
    let start = Instant::now();
    for _ in 0..TIMES {
        work();
    }
    start.elapsed()
}

fn per_time(all: Duration) -> f64 {
    all.as_secs_f64() * 1e9 / f64::from(TIMES)
}
