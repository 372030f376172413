//! Schedulers that have nothing to do: what that costs, and how long the next
//! task waits. `cargo bench -p benches --bench scheduler_idle`.
//!
//! The CPU time is that of the whole process in a second in which no task is
//! ready. The latency is that of a task spawned by a thread that isn't a worker
//! while all workers sleep: from before the call of `spawn` to its first poll.
//! All contenders take turns.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use benches::cost;
use benches::schedulers::measure::{is_test, workers};
use benches::schedulers::workloads;
use benches::schedulers::{self, Scheduler};

/// A scheduler with its threads.
struct Started {
    name: &'static str,
    /// Lets its workers work, so that all of them have slept once.
    warm_up: Box<dyn Fn()>,
    /// Spawns a task that stores the nanoseconds since the call.
    spawn: Box<dyn Fn(Arc<AtomicU64>)>,
}

fn start<S: Scheduler + 'static>(name: &'static str, workers: usize) -> Started {
    let scheduler = Arc::new(S::start(workers));
    let same = scheduler.clone();
    Started {
        name,
        warm_up: Box::new(move || workloads::run(&*same, workers, "spawn_many_outside")),
        spawn: Box::new(move |waited| {
            let start = Instant::now();
            let task = async move {
                let ns = start.elapsed().as_nanos() as u64;
                // SeqCst: this isn't what is measured.
                waited.store(ns.max(1), SeqCst);
            };
            // To drop the handle would cancel the task of some of them.
            std::mem::forget(Box::pin(scheduler.spawn(task)));
        }),
    }
}

fn contenders() -> [fn(usize) -> Started; 7] {
    [
        |workers| start::<schedulers::Solution14>("solution-14", workers),
        |workers| start::<schedulers::Tokio>("tokio", workers),
        |workers| start::<schedulers::AsyncExecutor>("async-executor", workers),
        |workers| start::<schedulers::DequePool>("deque-pool", workers),
        |workers| start::<schedulers::FuturesPool>("futures", workers),
        |workers| start::<schedulers::OneQueue>("one-queue", workers),
        |workers| start::<schedulers::Sharded>("sharded", workers),
    ]
}

/// Until all workers sleep.
const QUIET: Duration = Duration::from_millis(1);

/// Prints how much CPU time each takes in a second.
fn idle(workers: usize) {
    let second = Duration::from_millis(if is_test() { 10 } else { 1000 });
    for contender in contenders() {
        let started = contender(workers);
        (started.warm_up)();
        thread::sleep(second / 10);
        let ((), cost) = cost::of(|| thread::sleep(second));
        let Some(cpu) = cost.cpu else {
            return println!("this system does not tell CPU time");
        };
        let millis = cpu.as_secs_f64() * 1e3;
        println!("{:<16}{workers:>8}{millis:>14.3}", started.name);
    }
}

/// Prints how long tasks waited.
fn latency(workers: usize) {
    let rounds = if is_test() { 3 } else { 1_000 };
    let all = contenders().map(|contender| contender(workers));
    let mut waits = all.each_ref().map(|_| Vec::with_capacity(rounds));
    all.iter().for_each(|started| (started.warm_up)());
    for _ in 0..rounds {
        for (started, waits) in all.iter().zip(&mut waits) {
            thread::sleep(QUIET);
            waits.push(wait_of(started));
        }
    }
    for (started, mut waits) in all.iter().zip(waits) {
        waits.sort();
        let at = |part: f64| waits[((waits.len() - 1) as f64 * part) as usize] as f64 / 1e3;
        let (median, most) = (at(0.5), at(0.99));
        println!("{:<16}{workers:>8}{median:>14.1}{most:>14.1}", started.name);
    }
}

/// Spawns one task, and returns how many nanoseconds it waited.
fn wait_of(started: &Started) -> u64 {
    let waited = Arc::new(AtomicU64::new(0));
    (started.spawn)(waited.clone());
    loop {
        match waited.load(SeqCst) {
            // While it sleeps, this thread keeps no core from the workers.
            0 => thread::sleep(QUIET),
            waited => return waited,
        }
    }
}

fn main() {
    println!("{:<16}{:>8}{:>14}", "idle", "workers", "ms in 1 s");
    workers().into_iter().for_each(idle);
    println!(
        "\n{:<16}{:>8}{:>14}{:>14}",
        "latency", "workers", "median, µs", "p99, µs"
    );
    workers().into_iter().for_each(latency);
}
