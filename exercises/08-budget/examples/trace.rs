//! Two busy tasks share one thread: A yields by a budget of 200 µs, B by one of
//! 50 µs. C is short, and needs the thread now and then.
//!
//! `cargo workshop trace 8` shows them on a timeline.

use std::hint::black_box;
use std::time::Duration;

use exercise_8::{checkpoint, with_budget};
use testkit::{RoundRobin, Yields};

/// Does this many items, first cheap ones and then expensive ones.
async fn busy(items: u32) {
    for done in 0..items {
        let steps = if done < items / 2 { 100 } else { 500 };
        (0..steps).for_each(|step| _ = black_box(step));
        checkpoint().await;
    }
}

fn main() {
    let recording = trace::record("Your budget", "exercise 8", 1);
    trace::thread_start();
    let mut executor = RoundRobin::new();
    let budgets = [("A 200 µs", 200), ("B 50 µs", 50)];
    for (name, micros) in budgets {
        let task = with_budget(Duration::from_micros(micros), busy(2_000));
        executor.spawn(name.as_bytes()[0].into(), trace::task(name, task));
    }
    executor.spawn('C', trace::task("C", Yields(10)));
    while executor.turn() {}
    recording.finish().save("your-trace");
}
