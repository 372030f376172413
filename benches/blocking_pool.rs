//! What a small job costs beside its work, on each blocking pool:
//! `cargo bench -p benches --bench blocking_pool`. 16 × 100 jobs in four
//! shapes; all pools serve the same tasks on the same tokio runtimes.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use benches::cost;
use benches::table::{Estimates, Row, criterion_home, render};
use criterion::{BenchmarkId, Criterion};
use tokio::runtime::{Builder, Runtime};

const TASKS: usize = 16;
const JOBS: usize = 100;
/// What tokio and `blocking` have by default, or nearly so.
const MAX_THREADS: usize = 512;
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// One by one: 16 tasks that each submit a job and await it, 100 times. At
/// once: 16 tasks that each submit 100 jobs and then await them. Batches: one
/// task that submits 16 jobs and awaits them, 100 times. One thread: as one by
/// one, but all tasks are on one thread, which sleeps between two results.
const SHAPES: [&str; 4] = ["one-by-one", "at-once", "batches", "one-thread"];

const ROWS: &[Row<'static>] = &[
    row("solution-6", "joins its threads, runs what is queued"),
    #[cfg(feature = "mine-6")]
    row("exercise-6", "yours"),
    row(
        "tokio",
        "cancels what is queued; metrics; its context in jobs",
    ),
    row("blocking", "one pool, never shut down; cancels by drop"),
];

const fn row<'a>(contender: &'a str, notes: &'a str) -> Row<'a> {
    Row { contender, notes }
}

/// Runs the tasks of one shape; the jobs are submitted by `$submit`. A macro,
/// since each pool has handles of its own.
macro_rules! run {
    ($shape:expr, $submit:expr) => {{
        let submit = $submit;
        let (tasks, rounds, jobs) = match $shape {
            "one-by-one" | "one-thread" => (TASKS, JOBS, 1),
            "at-once" => (TASKS, 1, JOBS),
            "batches" => (1, JOBS, TASKS),
            other => unreachable!("no shape `{other}`"),
        };
        let tasks: Vec<_> = (0..tasks)
            .map(|_| {
                let submit = submit.clone();
                tokio::spawn(async move {
                    for _ in 0..rounds {
                        let jobs: Vec<_> = (0..jobs).map(|number| submit(number)).collect();
                        for job in jobs {
                            let _ = black_box(job.await);
                        }
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("the task does not panic");
        }
    }};
}

/// What every job does: next to nothing.
fn job(number: usize) -> impl FnOnce() -> usize + Send + 'static {
    move || black_box(number) + 1
}

struct Runtimes {
    workers: Runtime,
    one_thread: Runtime,
}

struct Pools {
    solution: Arc<solution_6::Pool>,
    #[cfg(feature = "mine-6")]
    exercise: Arc<exercise_6::Pool>,
}

fn run_once(runtimes: &Runtimes, pools: &Pools, contender: &str, shape: &str) {
    let runtime = match shape {
        "one-thread" => &runtimes.one_thread,
        _ => &runtimes.workers,
    };
    runtime.block_on(async {
        match contender {
            "solution-6" => {
                let pool = pools.solution.clone();
                run!(shape, move |number| pool.spawn_blocking(job(number)));
            }
            #[cfg(feature = "mine-6")]
            "exercise-6" => {
                let pool = pools.exercise.clone();
                run!(shape, move |number| pool.spawn_blocking(job(number)));
            }
            "tokio" => run!(shape, |number| tokio::task::spawn_blocking(job(number))),
            "blocking" => run!(shape, |number| blocking::unblock(job(number))),
            other => unreachable!("no pool `{other}`"),
        }
    });
}

/// CPU time and the number of jobs, of each contender in each shape.
type CpuTimes = RefCell<HashMap<(&'static str, &'static str), (Duration, u64)>>;

fn measure(criterion: &mut Criterion, runtimes: &Runtimes, pools: &Pools, cpu_times: &CpuTimes) {
    let mut group = criterion.benchmark_group("blocking_pool");
    for shape in SHAPES {
        for row in ROWS {
            let id = BenchmarkId::new(row.contender, shape);
            group.bench_function(id, |bencher| {
                bencher.iter_custom(|times| {
                    let ((), cost) = cost::of(|| {
                        (0..times).for_each(|_| run_once(runtimes, pools, row.contender, shape));
                    });
                    let jobs = times * (TASKS * JOBS) as u64;
                    let mut cpu_times = cpu_times.borrow_mut();
                    let sum = cpu_times.entry((row.contender, shape)).or_default();
                    sum.0 += cost.cpu.unwrap_or_default();
                    sum.1 += jobs;
                    // Criterion divides by `times`: what is left is the time of a job.
                    cost.wall.div_f64((TASKS * JOBS) as f64)
                });
            });
        }
    }
    group.finish();
}

fn main() {
    let workers = Builder::new_multi_thread().build();
    let one_thread = Builder::new_current_thread().build();
    let runtimes = Runtimes {
        workers: workers.expect("the threads can be started"),
        one_thread: one_thread.expect("a runtime without a thread can be built"),
    };
    let pools = Pools {
        solution: Arc::new(solution_6::Pool::new(MAX_THREADS, KEEP_ALIVE)),
        #[cfg(feature = "mine-6")]
        exercise: Arc::new(exercise_6::Pool::new(MAX_THREADS, KEEP_ALIVE)),
    };
    let mut criterion = Criterion::default()
        .output_directory(&criterion_home())
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .nresamples(10_000)
        .configure_from_args();
    let estimates = Estimates::from_now_on("blocking_pool");
    let cpu_times = CpuTimes::default();
    measure(&mut criterion, &runtimes, &pools, &cpu_times);
    criterion.final_summary();

    println!("\n16 × 100 small jobs, time on the clock for each:\n");
    let bases = ("tokio", "blocking");
    let compared = ["one-by-one", "one-thread"];
    println!("{}", render(&estimates, ROWS, &SHAPES, &compared, bases));
    println!("CPU time of all threads, ns for each:\n");
    println!(
        "{:<13}{}",
        "",
        SHAPES.map(|shape| format!("{shape:>12}")).concat()
    );
    for row in ROWS {
        let mut line = format!("{:<13}", row.contender);
        for shape in SHAPES {
            let (cpu, jobs) = cpu_times.borrow()[&(row.contender, shape)];
            line += &format!("{:>12.0}", cpu.as_nanos() as f64 / jobs as f64);
        }
        println!("{line}");
    }
}
