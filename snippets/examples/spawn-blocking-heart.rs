// ANCHOR: shown
//! Four chunks of numbers and a heartbeat, on a runtime with one thread: first
//! the chunks are tasks, then they are jobs for threads of their own.

use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;

// ANCHOR: both
fn count_primes(chunk: u32) -> usize {
    let numbers = 10_000 + chunk * 2_000..12_000 + chunk * 2_000;
    let is_prime = |&n: &u32| (2..n).all(|divisor| n % divisor != 0);
    numbers.filter(is_prime).count()
}

async fn heartbeat(mut clock: UnboundedReceiver<()>) {
    while clock.recv().await.is_some() {}
}

/// A thread that asks for a beat each millisecond, ten times.
fn start_clock() -> UnboundedReceiver<()> {
    let (tick, clock) = unbounded_channel();
    thread::spawn(move || {
        for _beat in 0..10 {
            thread::sleep(Duration::from_millis(1));
            tick.send(()).unwrap();
        }
    });
    clock
}
// ANCHOR_END: both

fn as_task(chunks: &mut JoinSet<usize>, chunk: u32) {
    let count = async move { count_primes(chunk) };
    chunks.spawn(trace::task(format!("chunk {chunk}"), count));
}

fn as_job(chunks: &mut JoinSet<usize>, chunk: u32) {
    let count = move || count_primes(chunk);
    chunks.spawn_blocking(trace::job(format!("chunk {chunk}"), count));
}

fn main() {
    run("The chunks are tasks", "spawn-tasks", 1, as_task);
    run("The chunks are blocking jobs", "spawn-jobs", 3, as_job);
}
// ANCHOR_END: shown

fn run(
    title: &str,
    name: &str,
    threads: usize,
    spawn: fn(&mut JoinSet<usize>, u32),
) {
    let tokio = "tokio 1.54.1 current_thread";
    let recording = trace::record(title, tokio, threads);
    trace::thread_start();
    let primes = runtime().block_on(async {
        let heart = heartbeat(start_clock());
        let heart = tokio::spawn(trace::task("heartbeat", heart));
        let mut chunks = JoinSet::new();
        for chunk in 1..=4 {
            spawn(&mut chunks, chunk);
        }
        let primes: usize = chunks.join_all().await.into_iter().sum();
        heart.await.unwrap();
        primes
    });
    println!("{title}: {primes} primes");
    recording.finish().save(name);
}

fn runtime() -> Runtime {
    Builder::new_current_thread()
        .max_blocking_threads(2)
        .on_thread_start(trace::thread_start)
        .on_thread_park(trace::thread_park)
        .on_thread_unpark(trace::thread_unpark)
        .build()
        .unwrap()
}
