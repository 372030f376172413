// ANCHOR: shown
//! Three sleepers of 100 ms each: under one `join!`, and spawned.

use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::{join, spawn};

const NAP: Duration = Duration::from_millis(100);

// ANCHOR: three
async fn sleep_in_the_way(name: &'static str) {
    trace::task(name, async { thread::sleep(NAP) }).await;
}

async fn sleep_aside(name: &'static str) {
    trace::task(name, tokio::time::sleep(NAP)).await;
}

async fn join_blocking() {
    join!(
        sleep_in_the_way("A"),
        sleep_in_the_way("B"),
        sleep_in_the_way("C"),
    );
}

async fn spawn_blocking_sleepers() {
    let [a, b, c] = ["A", "B", "C"].map(|it| spawn(sleep_in_the_way(it)));
    let (_, _, _) = join!(a, b, c);
}

async fn join_async() {
    join!(sleep_aside("A"), sleep_aside("B"), sleep_aside("C"));
}
// ANCHOR_END: three
// ANCHOR_END: shown

fn current_thread() -> Runtime {
    trace::thread_start(); // this thread is the worker
    Builder::new_current_thread().enable_time().build().unwrap()
}

fn multi_thread() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(3)
        .enable_time()
        .on_thread_start(trace::thread_start)
        .on_thread_park(trace::thread_park)
        .on_thread_unpark(trace::thread_unpark)
        .build()
        .unwrap()
}

fn time<F>(what: &str, name: &str, runtime: fn() -> Runtime, main: fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let recording = trace::record(what, "tokio 1.54.1", 1);
    let runtime = runtime();
    let start = Instant::now();
    // Spawned, so that a worker runs it and not the thread that waits.
    runtime.block_on(async { spawn(main()).await.unwrap() });
    println!("{what}: {} ms", start.elapsed().as_millis());
    drop(runtime);
    recording.finish().save(name);
}

// ANCHOR: shown
fn main() {
    println!("With one thread");
    time(
        "join!, blocking",
        "sleepers-one",
        current_thread,
        join_blocking,
    );
    println!("With three workers");
    time(
        "join!, blocking",
        "sleepers-join",
        multi_thread,
        join_blocking,
    );
    time(
        "spawned, blocking",
        "sleepers-spawn",
        multi_thread,
        spawn_blocking_sleepers,
    );
    time("join!, async", "sleepers-async", multi_thread, join_async);
}
// ANCHOR_END: shown
