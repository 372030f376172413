//! Executors of one thread: a thousand tasks that are spawned and awaited, and
//! 300 tasks that yield 300 times each:
//! `cargo bench -p benches --bench local_executor`.
//!
//! All yield by waking themselves, so that the executors do the same work.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use benches::table::{Estimates, Row, criterion_home};
use criterion::{BenchmarkId, Criterion};
use futures::executor::{LocalPool, LocalSpawner};
use futures::task::LocalSpawnExt;
use solution_7::yield_now;
use tokio::runtime::{self, Runtime};
use tokio::task::LocalSet;

/// How many tasks are spawned and awaited.
const SPAWNED: usize = 1_000;
/// How many tasks yield, and how often each does.
const YIELDING: usize = 300;

/// The workloads, and how many spawns or yields there are in each.
const WORKLOADS: [(&str, usize); 2] = [("spawn", SPAWNED), ("yield", YIELDING * YIELDING)];

const ROWS: &[Row<'static>] = &[
    row("solution-9", "handles for any thread; keeps panics"),
    #[cfg(feature = "mine-9")]
    row("exercise-9", "yours"),
    row("tokio-local", "`LocalSet`: the same, abort, a budget"),
    row(
        "tokio-current",
        "`current_thread`: tasks are `Send`; the same",
    ),
    row(
        "async-executor",
        "a panic ends `run`; a dropped handle cancels",
    ),
    row(
        "futures",
        "`LocalPool` and `RemoteHandle`: a panic ends `run`",
    ),
];

const fn row<'a>(contender: &'a str, notes: &'a str) -> Row<'a> {
    Row { contender, notes }
}

/// An executor of one thread, and what it calls what it does.
trait Contender {
    fn spawn<F>(&self, future: F) -> impl Future<Output = usize>
    where
        F: Future<Output = usize> + Send + 'static;

    fn block_on(&self, future: impl Future<Output = ()>);
}

impl Contender for solution_9::LocalExecutor {
    fn spawn<F>(&self, future: F) -> impl Future<Output = usize>
    where
        F: Future<Output = usize> + Send + 'static,
    {
        let handle = self.spawn(future);
        async { handle.await.expect("the task returns") }
    }

    fn block_on(&self, future: impl Future<Output = ()>) {
        self.block_on(future);
    }
}

#[cfg(feature = "mine-9")]
impl Contender for exercise_9::LocalExecutor {
    fn spawn<F>(&self, future: F) -> impl Future<Output = usize>
    where
        F: Future<Output = usize> + Send + 'static,
    {
        let handle = self.spawn(future);
        async { handle.await.expect("the task returns") }
    }

    fn block_on(&self, future: impl Future<Output = ()>) {
        self.block_on(future);
    }
}

struct TokioLocal {
    runtime: Runtime,
    set: LocalSet,
}

impl Contender for TokioLocal {
    fn spawn<F>(&self, future: F) -> impl Future<Output = usize>
    where
        F: Future<Output = usize> + Send + 'static,
    {
        let handle = self.set.spawn_local(future);
        async { handle.await.expect("the task returns") }
    }

    fn block_on(&self, future: impl Future<Output = ()>) {
        self.runtime.block_on(self.set.run_until(future));
    }
}

impl Contender for Runtime {
    fn spawn<F>(&self, future: F) -> impl Future<Output = usize>
    where
        F: Future<Output = usize> + Send + 'static,
    {
        let handle = self.spawn(future);
        async { handle.await.expect("the task returns") }
    }

    fn block_on(&self, future: impl Future<Output = ()>) {
        self.block_on(future);
    }
}

impl Contender for async_executor::LocalExecutor<'static> {
    fn spawn<F>(&self, future: F) -> impl Future<Output = usize>
    where
        F: Future<Output = usize> + Send + 'static,
    {
        self.spawn(future)
    }

    fn block_on(&self, future: impl Future<Output = ()>) {
        futures_lite::future::block_on(self.run(future));
    }
}

struct Futures {
    pool: RefCell<LocalPool>,
    spawner: LocalSpawner,
}

impl Contender for Futures {
    fn spawn<F>(&self, future: F) -> impl Future<Output = usize>
    where
        F: Future<Output = usize> + Send + 'static,
    {
        let handle = self.spawner.spawn_local_with_handle(future);
        handle.expect("the pool is there")
    }

    fn block_on(&self, future: impl Future<Output = ()>) {
        self.pool.borrow_mut().run_until(future);
    }
}

/// Does a workload once.
async fn work(contender: &impl Contender, workload: &str) {
    match workload {
        "spawn" => {
            let spawn = |n| contender.spawn(async move { n });
            let handles: Vec<_> = (0..SPAWNED).map(spawn).collect();
            let mut sum = 0;
            for handle in handles {
                sum += handle.await;
            }
            assert_eq!(sum, SPAWNED * (SPAWNED - 1) / 2);
        }
        "yield" => {
            let spawn = |n| {
                contender.spawn(async move {
                    for _ in 0..YIELDING {
                        yield_now().await;
                    }
                    n
                })
            };
            let handles: Vec<_> = (0..YIELDING).map(spawn).collect();
            for (n, handle) in handles.into_iter().enumerate() {
                assert_eq!(handle.await, n);
            }
        }
        other => unreachable!("no workload `{other}`"),
    }
}

fn time(contender: &impl Contender, workload: &str, times: u64) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        contender.block_on(work(contender, workload));
    }
    start.elapsed()
}

/// Makes a contender, and lets it do a workload so many times.
fn run(contender: &str, workload: &str, times: u64) -> Duration {
    let runtime = || {
        let runtime = runtime::Builder::new_current_thread().build();
        runtime.expect("a runtime without drivers can always be built")
    };
    match contender {
        "solution-9" => time(&solution_9::LocalExecutor::new(), workload, times),
        #[cfg(feature = "mine-9")]
        "exercise-9" => time(&exercise_9::LocalExecutor::new(), workload, times),
        "tokio-local" => {
            let (runtime, set) = (runtime(), LocalSet::new());
            time(&TokioLocal { runtime, set }, workload, times)
        }
        "tokio-current" => time(&runtime(), workload, times),
        "async-executor" => time(&async_executor::LocalExecutor::new(), workload, times),
        "futures" => {
            let pool = LocalPool::new();
            let spawner = pool.spawner();
            let pool = RefCell::new(pool);
            time(&Futures { pool, spawner }, workload, times)
        }
        other => unreachable!("no contender `{other}`"),
    }
}

fn main() {
    let mut criterion = Criterion::default()
        .output_directory(&criterion_home())
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(1_000))
        .nresamples(10_000)
        .configure_from_args();
    let estimates = Estimates::from_now_on("local_executor");
    let mut group = criterion.benchmark_group("local_executor");
    for (workload, _) in WORKLOADS {
        for Row { contender, .. } in ROWS {
            group.bench_function(BenchmarkId::new(*contender, workload), |bencher| {
                bencher.iter_custom(|times| run(contender, workload, times));
            });
        }
    }
    group.finish();
    criterion.final_summary();
    println!("\nMedian ns for each task that is spawned and awaited, and for each yield:\n");
    print_table(&estimates);
}

fn print_table(estimates: &Estimates) {
    println!("| | spawn | of tokio-local's | yield | of tokio-local's | |");
    println!("|---|---|---|---|---|---|");
    for Row { contender, notes } in ROWS {
        let cells = WORKLOADS.map(|(workload, count)| {
            let median = |contender| estimates.median_ns(contender, workload);
            let own = median(contender);
            let ratio = own.zip(median("tokio-local")).map(|(own, it)| own / it);
            let own = own.map_or("–".into(), |ns| format!("{:.1}", ns / count as f64));
            let ratio = ratio.map_or("–".into(), |ratio| format!("{ratio:.2}"));
            format!("{own} | {ratio}")
        });
        println!("| {contender} | {} | {notes} |", cells.join(" | "));
    }
}
