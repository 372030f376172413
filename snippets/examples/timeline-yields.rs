//! Three tasks on one thread. Each computes for a while, and yields, twice.

// ANCHOR: all
use std::time::{Duration, Instant};

use tokio::runtime::Builder;
use tokio::task::JoinSet;

const SLICE: Duration = Duration::from_micros(200);

fn compute() {
    let start = Instant::now();
    while start.elapsed() < SLICE {}
}

async fn polite() {
    for _slice in 0..2 {
        compute();
        tokio::task::yield_now().await;
    }
    compute();
}

fn main() {
    let recording =
        trace::record("three yield", "tokio 1.54.1 current_thread", 1);
    trace::thread_start(); // this thread runs them all: it is worker 0
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for name in ["A", "B", "C"] {
            tasks.spawn(trace::task(name, polite()));
        }
        tasks.join_all().await;
    });
    let trace = recording.finish();
    println!("{}", trace.sentences().join("\n"));
    trace.save("timeline-yields");
}
// ANCHOR_END: all
