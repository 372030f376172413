// ANCHOR: all
//! The primes below 30,000 by trial division, counted in five ways, beside a
//! heartbeat that wants to run each millisecond.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use tokio::sync::oneshot;
use tokio::task::{JoinSet, spawn_blocking};

const END: u32 = 30_000;
const CHUNK: u32 = 500;

fn is_prime(number: &u32) -> bool {
    (2..*number).all(|divisor| !number.is_multiple_of(divisor))
}

async fn task_each() -> usize {
    let mut tasks = JoinSet::new();
    for number in 2..END {
        tasks.spawn(async move { is_prime(&number) });
    }
    let primes = tasks.join_all().await;
    primes.into_iter().filter(|is_prime| *is_prime).count()
}

async fn rayon_in_task() -> usize {
    (2..END).into_par_iter().filter(is_prime).count()
}

async fn job_each() -> usize {
    let spawn = |number| spawn_blocking(move || is_prime(&number));
    let jobs: Vec<_> = (2..END).map(spawn).collect();
    let mut count = 0;
    for job in jobs {
        count += usize::from(job.await.unwrap());
    }
    count
}

async fn job_for_each_chunk() -> usize {
    let mut jobs = JoinSet::new();
    for start in (2..END).step_by(CHUNK as usize) {
        let numbers = start..END.min(start + CHUNK);
        jobs.spawn_blocking(|| numbers.filter(is_prime).count());
    }
    jobs.join_all().await.into_iter().sum()
}

// ANCHOR: bridge
async fn rayon_by_bridge() -> usize {
    let (tell, told) = oneshot::channel();
    rayon::spawn(|| {
        let primes = (2..END).into_par_iter().filter(is_prime);
        let _ = tell.send(primes.count());
    });
    told.await.unwrap()
}
// ANCHOR_END: bridge

async fn heartbeat(is_over: Arc<AtomicBool>) -> Duration {
    let mut most = Duration::ZERO;
    while !is_over.load(Relaxed) {
        let due = Instant::now() + Duration::from_millis(1);
        tokio::time::sleep_until(due.into()).await;
        most = most.max(due.elapsed());
    }
    most
}

fn run(how: &str, count: impl Future<Output = usize> + Send + 'static) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    runtime.unwrap().block_on(async {
        let is_over = Arc::new(AtomicBool::new(false));
        let heart = tokio::spawn(heartbeat(is_over.clone()));
        tokio::task::yield_now().await;
        let start = Instant::now();
        let primes = tokio::spawn(count).await.unwrap();
        let took = start.elapsed().as_millis();
        is_over.store(true, Relaxed);
        let late = heart.await.unwrap().as_secs_f64() * 1e3;
        println!("{how:20} {primes} primes, {took} ms, late {late:.1} ms");
    });
}

fn main() {
    run("a task each", task_each());
    run("rayon, in a task", rayon_in_task());
    run("spawn_blocking each", job_each());
    run("… in chunks", job_for_each_chunk());
    run("rayon, by a bridge", rayon_by_bridge());
}
// ANCHOR_END: all
