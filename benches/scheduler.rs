//! What a task costs beside its work, on each scheduler:
//! `cargo bench -p benches --bench scheduler`. The workloads are those of tokio's
//! own `benches/rt_multi_threaded.rs`, and two more; all contenders use the same
//! channel, that of tokio's benchmarks. Those build their runtime as
//! `tokio-enable-all` does, with 4 workers.
//!
//! `SCHEDULER_ROUNDS=15` in the environment replaces Criterion with so many
//! short rounds in which all contenders take turns, in an order that differs each
//! time: quick, and fair on a machine that isn't quiet. `SCHEDULER_WORKERS=2` chooses
//! numbers of workers, and arguments choose contenders and workloads: those whose names,
//! as in `tokio/ping_pong`, contain one of them.
//!
//! `--features mimalloc` brings another allocator, and `--profile bench-lto` compiles
//! all crates as one.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

use benches::cost::{self, Cost};
use benches::runtime;
use benches::schedulers::measure::{self, Contender, Measured, Results, contender, parameter};
use benches::schedulers::workloads::WORKLOADS;
use benches::schedulers::{self, measure::in_turns};
use benches::table::{Estimates, criterion_home};
use criterion::{BenchmarkId, Criterion, SamplingMode};
use variants::never_recycled;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

runtime!(NeverRecycled, NeverRecycledSpawner, never_recycled);

#[cfg(feature = "mine-14")]
mod mine {
    //! The reader's.

    use std::process;
    use std::sync::mpsc::{self, RecvTimeoutError};
    use std::thread;
    use std::time::Duration;

    use benches::schedulers::measure::Contender;
    use benches::schedulers::workloads::WORKLOADS;

    benches::runtime!(Exercise14, Exercise14Spawner, exercise_14);

    /// A workload takes some milliseconds. One that takes so long hangs.
    const LIMIT: Duration = Duration::from_secs(30);

    /// Returns `true` if it can be measured. Ends the program if it hangs: its
    /// threads would be in the way of all others.
    pub fn works(mine: Contender, workers: Vec<usize>) -> bool {
        let (begins, steps) = mpsc::channel();
        let trial = thread::spawn(move || {
            for workers in workers {
                let run = (mine.start)(workers);
                for (workload, _) in WORKLOADS {
                    // The receiver is gone if the program is about to end.
                    let _ = begins.send((workload, workers));
                    run(workload);
                }
            }
        });
        let mut step = ("start", 0);
        loop {
            match steps.recv_timeout(LIMIT) {
                Ok(next) => step = next,
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let (workload, workers) = step;
                    eprintln!(
                        "{} has not ended {workload} with {workers} workers after {LIMIT:?}: \
                         see `cargo workshop check 14`",
                        mine.name
                    );
                    process::exit(1);
                }
            }
        }
        let is_well = trial.join().is_ok();
        if !is_well {
            eprintln!("{} panics and is left out", mine.name);
        }
        is_well
    }
}

fn contenders() -> Vec<Contender> {
    let all = [
        contender::<schedulers::Solution14>(
            "solution-14",
            "fair; abort; panics caught; drops tasks at its end",
        ),
        #[cfg(feature = "mine-14")]
        contender::<mine::Exercise14>("exercise-14", "yours"),
        contender::<NeverRecycled>("no-free-list", "solution 14; the allocator has each task"),
        contender::<schedulers::Tokio>(
            "tokio",
            "all of solution 14's, and budgets, metrics, hooks",
        ),
        contender::<schedulers::TokioEnableAll>("tokio-enable-all", "with timers and I/O"),
        contender::<schedulers::AsyncExecutor>("async-executor", "no slot; a drop cancels"),
        contender::<schedulers::StaticAsyncExecutor>("static-executor", "the same, never dropped"),
        contender::<schedulers::DequePool>(
            "deque-pool",
            "tokio 0.1's design; drops no tasks at its end",
        ),
        contender::<schedulers::FuturesPool>("futures", "one queue; a drop cancels"),
        contender::<schedulers::OneQueue>("one-queue", "solution 10; no abort"),
        contender::<schedulers::Sharded>("sharded", "the same, a queue for each; none steals"),
    ];
    #[cfg(feature = "mine-14")]
    let all = all
        .into_iter()
        .filter(|one| one.name != "exercise-14" || mine::works(*one, measure::workers()));
    all.into_iter().collect()
}

/// By Criterion. CPU time is the mean.
fn by_criterion(
    criterion: &mut Criterion,
    contenders: &[Contender],
    workers: usize,
    results: &mut Results,
) {
    let estimates = Estimates::from_now_on("scheduler");
    let mut group = criterion.benchmark_group("scheduler");
    // The slowest contenders take a hundred times as long as the fastest.
    group.sampling_mode(SamplingMode::Flat);
    let cpu_times = RefCell::new(HashMap::<_, (Duration, u64)>::new());
    for contender in contenders {
        let run = (contender.start)(workers);
        for (workload, _) in WORKLOADS {
            let parameter = parameter(workload, workers);
            let id = BenchmarkId::new(contender.name, &parameter);
            group.bench_function(id, |bencher| {
                bencher.iter_custom(|times| {
                    let ((), cost) = cost::of(|| (0..times).for_each(|_| run(workload)));
                    let mut cpu_times = cpu_times.borrow_mut();
                    let sum = cpu_times.entry((contender.name, parameter.clone()));
                    let sum = sum.or_default();
                    sum.0 += cost.cpu.unwrap_or_default();
                    sum.1 += times;
                    cost.wall
                });
            });
        }
    }
    group.finish();
    for ((name, parameter), (cpu, times)) in cpu_times.into_inner() {
        if let Some(ns) = estimates.median_ns(name, &parameter) {
            let cpu = cpu.checked_div(times as u32).filter(|cpu| !cpu.is_zero());
            let wall = Duration::from_nanos(ns as u64);
            let middle_half = estimates.middle_half_ns(name, &parameter);
            let measured = Measured {
                median: Cost { wall, cpu },
                middle_half: middle_half.map_or([wall; 2], |half| {
                    half.map(|ns| Duration::from_nanos(ns as u64))
                }),
            };
            results.insert((name, parameter), measured);
        }
    }
}

fn main() {
    let (workers, contenders) = (measure::workers(), contenders());
    let mut results = Results::new();
    if let Some(rounds) = measure::rounds() {
        for workers in &workers {
            in_turns(&contenders, rounds, *workers, &mut results);
        }
    } else {
        let mut criterion = Criterion::default()
            .output_directory(&criterion_home())
            .warm_up_time(Duration::from_millis(200))
            .measurement_time(Duration::from_millis(700))
            .sample_size(20)
            .nresamples(10_000)
            .configure_from_args();
        for workers in &workers {
            by_criterion(&mut criterion, &contenders, *workers, &mut results);
        }
        criterion.final_summary();
    }
    measure::print(&contenders, &workers, &results);
}
