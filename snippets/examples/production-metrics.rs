//! Two readings of the metrics, 200 ms apart, for three kinds of trouble.

use std::future::pending;
use std::thread;
use std::time::{Duration, Instant};

use runtime::{Runtime, sleep, spawn};

fn main() {
    show("a task blocks its thread", |runtime| {
        runtime.spawn(heartbeat());
        runtime.spawn(async { thread::sleep(Duration::from_millis(500)) });
    });
    show("more work than two workers can do", |runtime| {
        runtime.spawn(async {
            for _ in 0..200 {
                spawn(async { compute(Duration::from_millis(10)) });
            }
        });
    });
    show("a task that nothing will wake", |runtime| {
        runtime.spawn(heartbeat());
        runtime.spawn(pending::<()>());
    });
}

/// A healthy task, for comparison.
async fn heartbeat() {
    loop {
        sleep(Duration::from_millis(10)).await;
    }
}

fn compute(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {}
}

fn show(trouble: &str, begin: impl FnOnce(&Runtime)) {
    let mut builder = runtime::Builder::new();
    let runtime = builder.worker_threads(2).build().unwrap();
    begin(&runtime);
    thread::sleep(Duration::from_millis(100));
    let first = runtime.metrics();
    thread::sleep(Duration::from_millis(200));
    let second = runtime.metrics();

    println!("{trouble}:");
    for (index, now) in second.workers.iter().enumerate() {
        let before = &first.workers[index];
        println!(
            "  worker {index}: {:>3} polls, {:>3} parks, {}, {} in its queue",
            now.poll_count - before.poll_count,
            now.park_count - before.park_count,
            if now.is_parked { "parked" } else { "running" },
            now.queue_length,
        );
    }
    let mut tasks = second.tasks;
    tasks.truncate(2);
    for now in tasks {
        let before = first.tasks.iter().find(|it| it.id == now.id);
        println!(
            "  the task spawned on line {}, polls: {}",
            now.spawned_at.line(),
            now.poll_count - before.map_or(0, |it| it.poll_count),
        );
    }
}
