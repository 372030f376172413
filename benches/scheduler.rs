//! What a task costs beside its work, on each scheduler:
//! `cargo bench -p benches --bench scheduler`. The workloads are those that
//! tokio's scheduler is measured by; all contenders use the same channel, that
//! of tokio's own benchmarks.
//!
//! `SCHEDULER_ROUNDS=15` in the environment replaces criterion by so many
//! short rounds in which all contenders take turns: quick, and fair on a machine
//! that is not quiet. `SCHEDULER_WORKERS=2` chooses numbers of workers, and an
//! argument the contenders and workloads whose names contain it.

mod schedulers;

use std::cell::RefCell;
use std::collections::HashMap;
use std::env;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use benches::cost::{self, Cost};
use benches::table::{Estimates, criterion_home};
use criterion::{BenchmarkId, Criterion};
use schedulers::{Scheduler, Spawn};
use tokio::sync::oneshot;

const SPAWNS: usize = 10_000;
const YIELDING_TASKS: usize = 200;
const YIELDS: usize = 1_000;
const PINGS: usize = 1_000;
const LINKS: usize = 1_000;

/// What is measured, and what one run of it does.
const WORKLOADS: [(&str, &str); 7] = [
    (
        "chained_spawn",
        "1,000 tasks, each of which spawns the next",
    ),
    (
        "ping_pong",
        "1,000 tasks, each of which spawns another and answers it",
    ),
    (
        "spawn_many_inside",
        "10,000 tasks, from a future in `block_on`",
    ),
    (
        "spawn_many_outside",
        "10,000 tasks, from a thread, then awaited",
    ),
    ("spawn_many_worker", "10,000 tasks, from a task"),
    (
        "yield_many",
        "200 tasks that yield 1,000 times as the runtime would",
    ),
    ("wake_many", "the same, but they yield by waking themselves"),
];

/// Runs a workload on a scheduler that was started.
type Run = Box<dyn Fn(&str)>;

/// A contender: its name, what it gives and lacks, and how to start it.
struct Contender {
    name: &'static str,
    notes: &'static str,
    start: fn(usize) -> Run,
}

fn contender<S: Scheduler + 'static>(name: &'static str, notes: &'static str) -> Contender {
    let start = |workers| {
        let scheduler = S::start(workers);
        Box::new(move |workload: &str| run(&scheduler, workload)) as Box<dyn Fn(&str)>
    };
    Contender { name, notes, start }
}

fn contenders() -> Vec<Contender> {
    vec![
        contender::<schedulers::Solution14>("solution-14", ""),
        contender::<schedulers::Tokio>("tokio", "budgets, metrics, hooks"),
        contender::<schedulers::AsyncExecutor>("async-executor", "no slot; a drop cancels"),
        contender::<schedulers::DequePool>("deque-pool", "text 4's before; no shutdown of tasks"),
        contender::<schedulers::FuturesPool>("futures", "one queue; a drop cancels"),
    ]
}

/// Runs a workload once.
fn run<S: Scheduler>(scheduler: &S, workload: &str) {
    let spawner = scheduler.spawner();
    match workload {
        "chained_spawn" => scheduler.block_on(chained_spawn(spawner)),
        "ping_pong" => scheduler.block_on(ping_pong(spawner)),
        "spawn_many_inside" => scheduler.block_on(spawn_many(spawner)),
        "spawn_many_outside" => spawn_and_join(scheduler),
        "spawn_many_worker" => {
            let spawner_of_task = spawner.clone();
            let (done, end) = oneshot::channel();
            scheduler.block_on(async move {
                spawner.spawn(async {
                    spawn_many(spawner_of_task).await;
                    let _ = done.send(());
                });
                let _ = end.await;
            });
        }
        "yield_many" => scheduler.block_on(yield_many(spawner, S::Spawner::yield_now)),
        "wake_many" => scheduler.block_on(yield_many(spawner, schedulers::wake_itself)),
        other => unreachable!("no workload `{other}`"),
    }
}

/// Shared by tasks, the last of which says that all are done.
struct Countdown {
    left: AtomicUsize,
    done: Mutex<Option<oneshot::Sender<()>>>,
}

impl Countdown {
    fn new(count: usize) -> (Arc<Self>, oneshot::Receiver<()>) {
        let (done, all_done) = oneshot::channel();
        let countdown = Self {
            left: AtomicUsize::new(count),
            done: Mutex::new(Some(done)),
        };
        (Arc::new(countdown), all_done)
    }

    fn one_done(&self) {
        // Relaxed: the channel publishes what has to be.
        if self.left.fetch_sub(1, Relaxed) == 1 {
            let done = self.done.lock().expect("nobody panics").take();
            let _ = done.expect("only one is the last").send(());
        }
    }
}

async fn chained_spawn<S: Spawn>(spawner: S) {
    let (done, all_done) = oneshot::channel();
    spawn_link(spawner, LINKS, done);
    let _ = all_done.await;
}

fn spawn_link<S: Spawn>(spawner: S, left: usize, done: oneshot::Sender<()>) {
    let next = spawner.clone();
    spawner.spawn(async move {
        match left {
            0 => drop(done.send(())),
            _ => spawn_link(next, left - 1, done),
        }
    });
}

async fn ping_pong<S: Spawn>(spawner: S) {
    let (countdown, all_done) = Countdown::new(PINGS);
    let spawner_of_task = spawner.clone();
    spawner.spawn(async move {
        for _ in 0..PINGS {
            let countdown = countdown.clone();
            let spawner = spawner_of_task.clone();
            spawner_of_task.spawn(async move {
                let (ping, pinged) = oneshot::channel();
                let (pong, ponged) = oneshot::channel();
                spawner.spawn(async move {
                    let _ = pinged.await;
                    let _ = pong.send(());
                });
                let _ = ping.send(());
                let _ = ponged.await;
                countdown.one_done();
            });
        }
    });
    let _ = all_done.await;
}

async fn spawn_many<S: Spawn>(spawner: S) {
    let (countdown, all_done) = Countdown::new(SPAWNS);
    for _ in 0..SPAWNS {
        let countdown = countdown.clone();
        spawner.spawn(async move { countdown.one_done() });
    }
    let _ = all_done.await;
}

fn spawn_and_join<S: Scheduler>(scheduler: &S) {
    let handles: Vec<_> = (0..SPAWNS).map(|_| scheduler.spawn(async {})).collect();
    scheduler.block_on(async {
        for handle in handles {
            handle.await;
        }
    });
}

async fn yield_many<S: Spawn, Y: Future<Output = ()> + Send>(
    spawner: S,
    yield_now: impl Fn() -> Y + Copy + Send + 'static,
) {
    let (countdown, all_done) = Countdown::new(YIELDING_TASKS);
    for _ in 0..YIELDING_TASKS {
        let countdown = countdown.clone();
        spawner.spawn(async move {
            for _ in 0..YIELDS {
                yield_now().await;
            }
            countdown.one_done();
        });
    }
    let _ = all_done.await;
}

/// The medians of a run: time on the clock, and CPU time of all threads.
type Results = HashMap<(&'static str, String), Cost>;

/// By criterion. CPU time is the mean.
fn measure(criterion: &mut Criterion, workers: usize, results: &mut Results) {
    let estimates = Estimates::from_now_on("scheduler");
    let mut group = criterion.benchmark_group("scheduler");
    let cpu_times = RefCell::new(HashMap::<_, (Duration, u64)>::new());
    for contender in contenders() {
        let run = (contender.start)(workers);
        for (workload, _) in WORKLOADS {
            let parameter = format!("{workload}-{workers}");
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
            results.insert((name, parameter), Cost { wall, cpu });
        }
    }
}

/// By rounds in which all take turns.
fn measure_in_turns(rounds: usize, workers: usize, results: &mut Results) {
    const ROUND: Duration = Duration::from_millis(8);
    let filter = env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let is_chosen = |contender: &str, workload: &str| {
        let name = format!("{contender}/{workload}");
        filter.as_ref().is_none_or(|filter| name.contains(filter))
    };
    let contenders = contenders();
    let running = contenders
        .iter()
        .map(|one| (one.name, (one.start)(workers)));
    let running: Vec<_> = running.collect();
    for (workload, _) in WORKLOADS {
        let mut costs = HashMap::<_, Vec<Cost>>::new();
        // The first round warms up.
        for round in 0..=rounds {
            for (name, run) in &running {
                if !is_chosen(name, workload) {
                    continue;
                }
                let ((), once) = cost::of(|| run(workload));
                let times = ROUND.div_duration_f64(once.wall).ceil().min(1000.0) as u32;
                let ((), cost) = cost::of(|| (0..times).for_each(|_| run(workload)));
                if round > 0 {
                    costs.entry(*name).or_default().push(Cost {
                        wall: cost.wall / times,
                        cpu: cost.cpu.map(|cpu| cpu / times),
                    });
                }
            }
        }
        for (name, costs) in costs {
            let mut walls: Vec<_> = costs.iter().map(|cost| cost.wall).collect();
            let mut cpus: Vec<_> = costs.iter().filter_map(|cost| cost.cpu).collect();
            walls.sort();
            cpus.sort();
            let cost = Cost {
                wall: walls[walls.len() / 2],
                cpu: cpus.get(cpus.len() / 2).copied(),
            };
            results.insert((name, format!("{workload}-{workers}")), cost);
        }
    }
}

fn main() {
    let workers: Vec<usize> = match env::var("SCHEDULER_WORKERS") {
        Ok(list) => list.split(',').flat_map(str::parse).collect(),
        Err(_) => vec![1, 2, 4],
    };
    let mut results = Results::new();
    let rounds = env::var("SCHEDULER_ROUNDS");
    match rounds.ok().and_then(|rounds| rounds.parse().ok()) {
        Some(rounds) => workers
            .iter()
            .for_each(|workers| measure_in_turns(rounds, *workers, &mut results)),
        None => {
            let mut criterion = Criterion::default()
                .output_directory(&criterion_home())
                .warm_up_time(Duration::from_millis(300))
                .measurement_time(Duration::from_secs(1))
                .sample_size(20)
                .nresamples(10_000)
                .configure_from_args();
            for workers in &workers {
                measure(&mut criterion, *workers, &mut results);
            }
            criterion.final_summary();
        }
    }
    for (workload, what) in WORKLOADS {
        if !results.keys().any(|(_, at)| at.starts_with(workload)) {
            continue;
        }
        println!("\n{workload}: {what}");
        print(workload, &workers, &results);
    }
}

/// One workload: a row for each contender, and for each number of workers the
/// time, how many times as fast as tokio that is, and the CPU time as a multiple
/// of tokio's.
fn print(workload: &str, workers: &[usize], results: &Results) {
    let mut head = format!("{:<16}", "workers");
    for workers in workers {
        head += &format!("{workers:>10} {:>9} {:>8}", "× tokio", "CPU");
    }
    println!("{head}");
    for contender in contenders() {
        let mut line = format!("{:<16}", contender.name);
        for workers in workers {
            let parameter = format!("{workload}-{workers}");
            let of = |name| results.get(&(name, parameter.clone()));
            let (own, tokio) = (of(contender.name), of("tokio"));
            let micros = own.map(|own| own.wall.as_secs_f64() * 1e6);
            let faster = own
                .zip(tokio)
                .map(|(own, tokio)| tokio.wall.div_duration_f64(own.wall));
            let cpu = own
                .zip(tokio)
                .and_then(|(own, tokio)| Some(own.cpu?.div_duration_f64(tokio.cpu?)));
            let cell = |value: Option<f64>, digits| {
                value.map_or("–".into(), |value| format!("{value:.digits$}"))
            };
            line += &format!(
                "{:>7} µs {:>9} {:>8}",
                cell(micros, 0),
                cell(faster, 2),
                cell(cpu, 2)
            );
        }
        println!("{line}  {}", contender.notes);
    }
}
