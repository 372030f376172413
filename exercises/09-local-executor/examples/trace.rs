//! A and B alternate. C waits for a thread that rings a bell, and then spawns a
//! task of its own. The main future awaits all of them.
//!
//! `cargo workshop trace 9` shows them on a timeline. What wakes what?

use std::thread;
use std::time::{Duration, Instant};

use exercise_9::{LocalExecutor, spawn};
use testkit::{ManualFuture, Yields};

const STEP: Duration = Duration::from_micros(100);

fn step() {
    let start = Instant::now();
    while start.elapsed() < STEP {}
}

async fn take_turns() {
    for _ in 0..6 {
        step();
        Yields(1).await;
    }
}

fn main() {
    let recording = trace::record("Your local executor", "exercise 9", 1);
    trace::thread_start();
    let executor = LocalExecutor::new();
    let (bell_rings, bell) = ManualFuture::new();
    let ringing = thread::spawn(move || {
        bell.wait_until_polled();
        thread::sleep(10 * STEP);
        bell.complete();
    });
    let waits = async {
        bell_rings.await;
        spawn(trace::task("child", take_turns())).await.unwrap();
    };
    let tasks = [
        executor.spawn(trace::task("A", take_turns())),
        executor.spawn(trace::task("B", take_turns())),
        executor.spawn(trace::task("C", waits)),
    ];
    executor.block_on(trace::task("main", async {
        for task in tasks {
            task.await.expect("the task returns");
        }
    }));
    ringing.join().expect("ringing does not panic");
    recording.finish().save("your-trace");
}
