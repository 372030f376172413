//! The primes below 500,000 by trial division, counted in every way the book
//! knows, while a heartbeat wants to run each millisecond:
//! `cargo bench -p benches --bench primes`. One run of each; about a minute.
//! With `--test` all is small. Another limit: `-- --limit 100000`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::available_parallelism;
use std::time::Duration;

use benches::cost;
use rayon::prelude::*;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

const BEAT: Duration = Duration::from_millis(1);
/// Candidates in a chunk: a millisecond of work at the start, a hundred at the
/// end.
const CHUNK: u32 = 1_000;

/// By every smaller number, as Wolverson does: the work is meant to be long.
fn is_prime(candidate: u32) -> bool {
    candidate > 1 && (2..candidate).all(|divisor| !candidate.is_multiple_of(divisor))
}

fn chunks(limit: u32) -> impl Iterator<Item = (u32, u32)> {
    let starts = (0..limit).step_by(CHUNK as usize);
    starts.map(move |start| (start, limit.min(start + CHUNK)))
}

fn count_primes((start, end): (u32, u32)) -> usize {
    (start..end).filter(|&number| is_prime(number)).count()
}

/// Awaits all jobs and adds up what they found. A macro, since each pool has
/// handles of its own.
macro_rules! sum {
    ($jobs:expr) => {{
        let jobs: Vec<_> = $jobs.collect();
        let mut count = 0;
        for job in jobs {
            count += job.await.expect("a job does not panic");
        }
        count
    }};
}
fn main() {
    let arguments: Vec<_> = std::env::args().collect();
    let place = arguments.iter().position(|it| it == "--limit");
    let limit = place.and_then(|at| arguments.get(at + 1)?.parse().ok());
    let is_test = arguments.iter().any(|it| it == "--test");
    let limit = limit.unwrap_or(if is_test { 3_000 } else { 500_000 });
    println!("Primes below {limit}; a heartbeat each {BEAT:?}, late by\n");
    println!("| | wall | CPU | p50 | p99 | max |\n|---|---|---|---|---|---|");

    let one = || Builder::new_current_thread().enable_time().build();
    let all = || Builder::new_multi_thread().enable_time().build();
    let cores = available_parallelism().map_or(2, usize::from);
    let keep_alive = Duration::from_secs(10);
    row("a task each, current-thread", one(), tasks(limit));
    row("a task each, multi-thread", all(), tasks(limit));
    row("rayon, called in a task", one(), rayon_in_task(limit));
    row(
        "`spawn_blocking` each",
        one(),
        set(limit, |set, range| {
            for candidate in range.0..range.1 {
                set.spawn_blocking(move || usize::from(is_prime(candidate)));
            }
        }),
    );
    row(
        "`spawn_blocking` in chunks",
        one(),
        set(limit, |set, range| {
            set.spawn_blocking(move || count_primes(range));
        }),
    );
    row("rayon, by the bridge", one(), rayon_by_bridge(limit));
    let pool = solution_6::Pool::new(cores, keep_alive);
    row("solution 6 each", one(), async move {
        let jobs = (0..limit).map(|n| pool.spawn_blocking(move || usize::from(is_prime(n))));
        sum!(jobs)
    });
    let pool = solution_6::Pool::new(cores, keep_alive);
    row("solution 6 in chunks", one(), async move {
        let jobs = chunks(limit).map(|range| pool.spawn_blocking(move || count_primes(range)));
        sum!(jobs)
    });
    #[cfg(feature = "mine-6")]
    {
        let pool = exercise_6::Pool::new(cores, keep_alive);
        row("yours in chunks", one(), async move {
            let jobs = chunks(limit).map(|range| pool.spawn_blocking(move || count_primes(range)));
            sum!(jobs)
        });
    }
}

async fn tasks(limit: u32) -> usize {
    let mut tasks = JoinSet::new();
    for candidate in 0..limit {
        tasks.spawn(async move { usize::from(is_prime(candidate)) });
    }
    tasks.join_all().await.into_iter().sum()
}

/// Lets `spawn` put the work for each chunk into a set.
async fn set(limit: u32, spawn: impl Fn(&mut JoinSet<usize>, (u32, u32))) -> usize {
    let mut jobs = JoinSet::new();
    chunks(limit).for_each(|range| spawn(&mut jobs, range));
    jobs.join_all().await.into_iter().sum()
}

fn by_rayon(limit: u32) -> usize {
    let candidates = (0..limit).into_par_iter();
    candidates.filter(|&number| is_prime(number)).count()
}

async fn rayon_in_task(limit: u32) -> usize {
    by_rayon(limit)
}

async fn rayon_by_bridge(limit: u32) -> usize {
    let job = solution_6::spawn_rayon(move || by_rayon(limit));
    job.await.expect("counting does not panic")
}

/// Runs `count` as a task beside the heartbeat, and prints what came of it.
fn row(
    what: &str,
    runtime: std::io::Result<Runtime>,
    count: impl Future<Output = usize> + Send + 'static,
) {
    let runtime = runtime.expect("the threads can be started");
    let is_over = Arc::new(AtomicBool::new(false));
    let ((primes, mut late), cost) = cost::of(|| {
        runtime.block_on(async {
            let heart = tokio::spawn(beat(is_over.clone()));
            tokio::task::yield_now().await;
            let primes = tokio::spawn(count).await.expect("counting does not panic");
            is_over.store(true, Relaxed);
            let late = heart.await.expect("the heart does not panic");
            (primes, late)
        })
    });
    late.sort();
    // Rounded down, as the chapter says.
    let at = |percent: usize| late[(late.len() - 1) * percent / 100];
    let cpu = cost.cpu.map_or("?".into(), |cpu| format!("{cpu:.2?}"));
    let (wall, p50, p99, max) = (cost.wall, at(50), at(99), at(100));
    println!("| {what} | {wall:.2?} | {cpu} | {p50:.1?} | {p99:.1?} | {max:.1?} |");
    eprintln!("{what}: {primes} primes, {} beats", late.len());
}

/// Wants to run each millisecond, and notes how late it was.
async fn beat(is_over: Arc<AtomicBool>) -> Vec<Duration> {
    let mut late = Vec::with_capacity(100_000);
    // Relaxed: publishes nothing.
    while !is_over.load(Relaxed) {
        let due = Instant::now() + BEAT;
        sleep_until(due).await;
        late.push(due.elapsed());
    }
    late
}
