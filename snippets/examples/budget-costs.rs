//! Three costs from which the rest follows.

use std::hint::black_box;
use std::time::Instant;

use tokio::task::yield_now;

/// A dozen nanoseconds of work, in release mode.
fn item(number: u64) -> u64 {
    (0..8).fold(black_box(number), |number, _| {
        let number = number ^ number << 13;
        let number = number ^ number >> 7;
        number ^ number << 17
    })
}

fn ns_each(start: Instant, times: u32) -> f64 {
    start.elapsed().as_nanos() as f64 / f64::from(times)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    const TIMES: u32 = 1_000_000;
    let mut number = 1;

    let start = Instant::now();
    for _ in 0..TIMES {
        number = item(number);
    }
    let c = ns_each(start, TIMES);

    let start = Instant::now();
    for _ in 0..TIMES {
        number = item(number);
        yield_now().await;
    }
    let y = ns_each(start, TIMES) - c;

    let start = Instant::now();
    for _ in 0..TIMES {
        number = item(number);
        black_box(Instant::now());
    }
    let r = ns_each(start, TIMES) - c;

    black_box(number);
    println!("an item   c = {c:5.1} ns");
    println!("a yield   y = {y:5.1} ns");
    println!("the clock r = {r:5.1} ns\n");
    println!("     n  of full speed  a victim waits");
    for n in [1.0, 10.0, 100.0, 1_000.0, 10_000.0] {
        let part = 100.0 * n * c / (n * c + y);
        let wait_us = n * c / 2.0 / 1_000.0;
        println!("{n:6}  {part:10.1} %  {wait_us:11.2} µs");
    }
}
