//! Nine tasks on three workers. Each computes for 0.2 ms and waits for 2 ms,
//! three times: first it waits by blocking, then by awaiting.

// ANCHOR: all
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Builder;
use tokio::task::JoinSet;

const WORK: Duration = Duration::from_micros(200);
const WAIT: Duration = Duration::from_millis(2);

// ANCHOR: tasks
fn compute() {
    let start = Instant::now();
    while start.elapsed() < WORK {}
}

async fn long_block() {
    for _round in 0..3 {
        compute();
        thread::sleep(WAIT);
    }
}

async fn short_slices() {
    for _round in 0..3 {
        compute();
        tokio::time::sleep(WAIT).await;
    }
}
// ANCHOR_END: tasks

fn run<F>(title: &str, name: &str, task: fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let recording = trace::record(title, "tokio 1.54.1 multi_thread", 3);
    let runtime = Builder::new_multi_thread()
        .worker_threads(3)
        .enable_time()
        .on_thread_start(trace::thread_start)
        .on_thread_park(trace::thread_park)
        .on_thread_unpark(trace::thread_unpark)
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for letter in 'A'..='I' {
            tasks.spawn(trace::task(letter.to_string(), task()));
        }
        tasks.join_all().await;
    });
    drop(runtime);
    let trace = recording.finish();
    println!("{title}:\n{}", trace.sentences().join("\n"));
    trace.save(name);
}

fn main() {
    run("long blocks", "sleepers-blocks", long_block);
    run("short slices", "sleepers-slices", short_slices);
}
// ANCHOR_END: all
