//! Sixty tasks that each sleep for 50 ms, on three threads, in three ways.

// ANCHOR: all
use std::thread;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use tokio::runtime::Builder;
use tokio::task::JoinSet;

const SLEEPERS: usize = 60;
const THREADS: usize = 3;
const NAP: Duration = Duration::from_millis(50);

// ANCHOR: ways
fn block_a_pool() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(THREADS);
    let sleepers = (0..SLEEPERS).into_par_iter();
    let pool = pool.build().unwrap();
    pool.install(|| sleepers.for_each(|_| thread::sleep(NAP)));
}

fn block_the_workers() {
    run_all(|| async { thread::sleep(NAP) });
}

fn await_the_sleep() {
    run_all(|| tokio::time::sleep(NAP));
}
// ANCHOR_END: ways

/// Spawns all sleepers on a runtime of three workers, and waits for them.
fn run_all<F>(sleeper: fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let runtime = Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut sleepers = JoinSet::new();
        for _ in 0..SLEEPERS {
            sleepers.spawn(sleeper());
        }
        sleepers.join_all().await;
    });
}

fn time(what: &str, run: fn()) {
    let start = Instant::now();
    run();
    println!("{what}: {} ms", start.elapsed().as_millis());
}

fn main() {
    time("thread::sleep on a pool of threads", block_a_pool);
    time("thread::sleep on tokio's workers", block_the_workers);
    time("tokio::time::sleep", await_the_sleep);
}
// ANCHOR_END: all
