//! What a task costs beside its work, on the pool with one queue:
//! `cargo bench -p benches --bench one_queue`. With one worker, there is
//! no contention for the lock; with four, there is a lot. Beside it is the sharded
//! design: as many pools of one worker each, which get the tasks in turn.

use std::hint::black_box;
use std::time::Duration;

use benches::cost;
use benches::schedulers::Sharded;
use benches::table::{Estimates, Row, criterion_home, render};
use criterion::{BenchmarkId, Criterion};
use solution_4::block_on;
use solution_7::yield_now;

/// Spawned: 10,000 tasks that do nothing, from one thread, and then awaited.
/// Yields: 100 tasks that yield 1,000 times.
const WORKLOADS: [&str; 2] = ["spawns", "yields"];
const SPAWNS: usize = 10_000;
const TASKS: usize = 100;
const YIELDS: usize = 1_000;
const WORKERS: [usize; 3] = [1, 2, 4];

const ROWS: &[Row<'static>] = &[
    row("solution-10", "one queue"),
    #[cfg(feature = "mine-10")]
    row("exercise-10", "yours"),
    row("sharded", "the same, a pool for each worker"),
    row(
        "futures",
        "one queue, a channel; a task that is woken while polled stays",
    ),
];

const fn row<'a>(contender: &'a str, notes: &'a str) -> Row<'a> {
    Row { contender, notes }
}

/// Makes what runs a workload once. A macro, since each pool has handles of its
/// own.
macro_rules! runner {
    ($pool:expr, |$it:ident, $future:ident| $spawn:expr) => {{
        let $it = $pool;
        Box::new(move |workload: &str| match workload {
            "spawns" => await_all((0..SPAWNS).map(|number| {
                let $future = async move { black_box(number) };
                $spawn
            })),
            _ => await_all((0..TASKS).map(|_| {
                let $future = async {
                    for _ in 0..YIELDS {
                        yield_now().await;
                    }
                };
                $spawn
            })),
        }) as Box<dyn Fn(&str)>
    }};
}

fn await_all<H: Future>(handles: impl Iterator<Item = H>) {
    let handles: Vec<_> = handles.collect();
    block_on(async {
        for handle in handles {
            black_box(handle.await);
        }
    });
}

fn start(contender: &str, workers: usize) -> Box<dyn Fn(&str)> {
    match contender {
        "solution-10" => {
            runner!(solution_10::Pool::new(workers), |pool, task| pool
                .spawn(task))
        }
        #[cfg(feature = "mine-10")]
        "exercise-10" => {
            runner!(exercise_10::Pool::new(workers), |pool, task| pool
                .spawn(task))
        }
        "sharded" => runner!(Sharded::new(workers), |pool, task| pool.spawn(task)),
        "futures" => {
            use futures::task::SpawnExt;
            let mut builder = futures::executor::ThreadPool::builder();
            let pool = builder.pool_size(workers).create();
            runner!(pool.expect("the threads can be started"), |pool, task| {
                pool.spawn_with_handle(task).expect("it runs")
            })
        }
        other => unreachable!("no pool `{other}`"),
    }
}

fn measure(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("one_queue");
    for workers in WORKERS {
        for row in ROWS {
            let run = start(row.contender, workers);
            for workload in WORKLOADS {
                let id = BenchmarkId::new(row.contender, format!("{workload}-{workers}"));
                let count = match workload {
                    "spawns" => SPAWNS,
                    _ => TASKS * YIELDS,
                };
                group.bench_function(id, |bencher| {
                    bencher.iter_custom(|times| {
                        let ((), cost) = cost::of(|| (0..times).for_each(|_| run(workload)));
                        // Criterion divides by `times`: what is left is the
                        // time of one spawn, or of one yield.
                        cost.wall.div_f64(count as f64)
                    });
                });
            }
        }
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default()
        .output_directory(&criterion_home())
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .nresamples(10_000)
        .configure_from_args();
    let estimates = Estimates::from_now_on("one_queue");
    measure(&mut criterion);
    criterion.final_summary();

    println!("\nns for each task that is spawned and awaited, and for each yield:\n");
    let parameters = WORKLOADS.map(|it| WORKERS.map(|workers| format!("{it}-{workers}")));
    let parameters: Vec<_> = parameters.iter().flatten().map(String::as_str).collect();
    let bases = ("sharded", "futures");
    let compared = ["spawns-4", "yields-4"];
    println!(
        "{}",
        render(&estimates, ROWS, &parameters, &compared, bases)
    );
}
