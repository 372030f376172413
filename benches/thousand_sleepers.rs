//! A thousand tasks that each sleep for half a second, at full size, in every
//! way the book knows: `cargo bench -p benches --bench thousand_sleepers`. One
//! run of each; the blocking ones take a minute. With `--test` all is small.

use std::thread;
use std::time::Duration;

use benches::cost;
use futures::future::join_all;
use rayon::prelude::*;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

/// As many threads as the author of the quiz had cores.
const THREADS: usize = 8;

/// How many sleep, and for how long.
#[derive(Clone, Copy)]
struct Size {
    sleepers: usize,
    nap: Duration,
}

fn main() {
    let is_test = std::env::args().any(|argument| argument == "--test");
    let (sleepers, ms) = if is_test { (24, 5) } else { (1_000, 500) };
    let nap = Duration::from_millis(ms);
    let size = Size { sleepers, nap };
    println!("{sleepers} sleepers of {ms} ms each\n");
    println!("| the sleepers | threads | wall | CPU |\n|---|---|---|---|");
    row("block rayon's threads", THREADS, size, block_rayon);
    row("block tokio's workers", THREADS, size, block_workers);
    row("use `spawn_blocking`", sleepers.min(512), size, block_aside);
    row("have a thread each", sleepers, size, block_a_thread_each);
    row("await tokio's `sleep`", 1, size, await_tokio);
    row("await async-io's `Timer`", 2, size, await_async_io);
    row("await solution 5's `sleep`", 2, size, await_solution);
    #[cfg(feature = "mine-5")]
    row("await yours", 2, size, await_mine);
}

fn row(what: &str, threads: usize, size: Size, run: fn(Size)) {
    let ((), cost) = cost::of(|| run(size));
    let wall = cost.wall.as_secs_f64();
    let cpu = cost
        .cpu
        .map(|cpu| format!("{:.1} ms", cpu.as_secs_f64() * 1e3));
    let cpu = cpu.as_deref().unwrap_or("?");
    println!("| {what} | {threads} | {wall:.2} s | {cpu} |");
}

fn block_rayon(Size { sleepers, nap }: Size) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(THREADS).build();
    let pool = pool.expect("the threads can be started");
    // One job each, so that rayon doesn't put several naps into one.
    let naps = (0..sleepers).into_par_iter().with_max_len(1);
    pool.install(|| naps.for_each(|_| thread::sleep(nap)));
}

fn block_workers(Size { sleepers, nap }: Size) {
    let runtime = Builder::new_multi_thread().worker_threads(THREADS).build();
    let sleeper = move || async move { thread::sleep(nap) };
    run_on(runtime, sleepers, |tasks| drop(tasks.spawn(sleeper())));
}

fn block_aside(Size { sleepers, nap }: Size) {
    let runtime = Builder::new_current_thread().build();
    run_on(runtime, sleepers, |tasks| {
        tasks.spawn_blocking(move || thread::sleep(nap));
    });
}

fn block_a_thread_each(Size { sleepers, nap }: Size) {
    thread::scope(|scope| {
        for _ in 0..sleepers {
            scope.spawn(|| thread::sleep(nap));
        }
    });
}

fn await_tokio(Size { sleepers, nap }: Size) {
    let runtime = Builder::new_current_thread().enable_time().build();
    run_on(runtime, sleepers, |tasks| {
        tasks.spawn(tokio::time::sleep(nap));
    });
}

fn await_async_io(Size { sleepers, nap }: Size) {
    let naps = (0..sleepers).map(|_| async_io::Timer::after(nap));
    solution_4::block_on(join_all(naps));
}

fn await_solution(Size { sleepers, nap }: Size) {
    let naps = (0..sleepers).map(|_| solution_5::sleep(nap));
    solution_4::block_on(join_all(naps));
}

#[cfg(feature = "mine-5")]
fn await_mine(Size { sleepers, nap }: Size) {
    let naps = (0..sleepers).map(|_| exercise_5::sleep(nap));
    solution_4::block_on(join_all(naps));
}

/// Starts so many tasks, and waits for all.
fn run_on(
    runtime: std::io::Result<Runtime>,
    sleepers: usize,
    mut start_one: impl FnMut(&mut JoinSet<()>),
) {
    let runtime = runtime.expect("the threads can be started");
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        (0..sleepers).for_each(|_| start_one(&mut tasks));
        tasks.join_all().await;
    });
}
