//! `unpark` before `park`, and twice.

use std::thread;
use std::time::{Duration, Instant};

fn main() {
    let this = thread::current();
    this.unpark();
    this.unpark();

    let start = Instant::now();
    thread::park();
    println!("first park: {} ms", start.elapsed().as_millis());

    let start = Instant::now();
    thread::park_timeout(Duration::from_millis(50));
    let waited = start.elapsed() >= Duration::from_millis(50);
    println!("second park waited for its timeout: {waited}");
}
