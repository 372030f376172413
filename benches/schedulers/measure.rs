//! How the schedulers are measured: in rounds in which all take turns, quick,
//! and fair on a machine that isn't quiet.

use std::collections::HashMap;
use std::env;
use std::process;
use std::time::Duration;

use super::Scheduler;
use super::workloads::{self, WORKLOADS};
use crate::cost::{self, Cost};
use crate::random::Random;

/// Runs a workload on a scheduler that was started.
pub type Run = Box<dyn Fn(&str)>;

/// A contender: its name, what it gives and lacks, and how to start it.
#[derive(Clone, Copy)]
pub struct Contender {
    /// As the table and the estimates have it.
    pub name: &'static str,
    /// What the others don't give, or what it lacks.
    pub notes: &'static str,
    /// Starts it with so many workers.
    pub start: fn(usize) -> Run,
}

/// Makes a contender of a scheduler.
pub fn contender<S: Scheduler + 'static>(name: &'static str, notes: &'static str) -> Contender {
    let start = |workers| {
        let scheduler = S::start(workers);
        Box::new(move |workload: &str| workloads::run(&scheduler, workers, workload)) as Run
    };
    Contender { name, notes, start }
}

/// The results of a run, by contender and by workload and number of workers.
pub type Results = HashMap<(&'static str, String), Measured>;

/// What many runs of a workload came to.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// The medians: time on the clock, and CPU time of all threads.
    pub median: Cost,
    /// Of the time on the clock: a quarter of the runs took less, and a quarter
    /// more.
    pub middle_half: [Duration; 2],
}

/// Under which name a workload's cost with so many workers is kept.
pub fn parameter(workload: &str, workers: usize) -> String {
    format!("{workload}-{workers}")
}

/// The numbers of workers to measure: those in `SCHEDULER_WORKERS`, or 1, 2, 4.
pub fn workers() -> Vec<usize> {
    match env::var("SCHEDULER_WORKERS") {
        Ok(list) => list.split(',').flat_map(str::parse).collect(),
        Err(_) if is_test() => vec![2],
        Err(_) => vec![1, 2, 4],
    }
}

/// The number in `SCHEDULER_ROUNDS`.
pub fn rounds() -> Option<usize> {
    env::var("SCHEDULER_ROUNDS").ok()?.parse().ok()
}

/// Whether this run is only to see whether it runs at all.
pub fn is_test() -> bool {
    env::args().any(|argument| argument == "--test")
}

/// Measures by so many rounds, in each of which the contenders' order is another.
/// Arguments of the program choose the contenders and workloads whose names, as in
/// `tokio/ping_pong`, contain one of them.
pub fn in_turns(contenders: &[Contender], rounds: usize, workers: usize, results: &mut Results) {
    // Long enough for the clock of CPU time.
    let round_time = Duration::from_millis(if is_test() { 0 } else { 8 });
    let arguments = env::args().skip(1);
    let filters: Vec<_> = arguments.filter(|arg| !arg.starts_with('-')).collect();
    let is_chosen = |contender: &str, workload: &str| {
        let name = format!("{contender}/{workload}");
        filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()))
    };
    let running = contenders
        .iter()
        .map(|one| (one.name, (one.start)(workers)));
    let mut running: Vec<_> = running.collect();
    let mut random = Random::new(u64::from(process::id()));
    for (workload, _) in WORKLOADS {
        let mut costs = HashMap::<_, Vec<Cost>>::new();
        // The first round warms up.
        for round in 0..=rounds {
            // What ran before leaves its traces in caches and in the clock rate.
            random.shuffle(&mut running);
            for (name, run) in &running {
                if !is_chosen(name, workload) {
                    continue;
                }
                let ((), once) = cost::of(|| run(workload));
                let times = round_time.div_duration_f64(once.wall).ceil();
                let times = times.clamp(1.0, 1000.0) as u32;
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
            results.insert((name, parameter(workload, workers)), summary(&costs));
        }
    }
}

fn summary(costs: &[Cost]) -> Measured {
    let mut walls: Vec<_> = costs.iter().map(|cost| cost.wall).collect();
    let mut cpus: Vec<_> = costs.iter().filter_map(|cost| cost.cpu).collect();
    walls.sort();
    cpus.sort();
    let median = Cost {
        wall: walls[walls.len() / 2],
        cpu: cpus.get(cpus.len() / 2).copied(),
    };
    let middle_half = [walls[walls.len() / 4], walls[walls.len() * 3 / 4]];
    Measured {
        median,
        middle_half,
    }
}

/// Prints a table for each workload that was measured.
pub fn print(contenders: &[Contender], workers: &[usize], results: &Results) {
    for (workload, what) in WORKLOADS {
        if results.keys().any(|(_, at)| at.starts_with(workload)) {
            println!("\n{workload}: {what}");
            print_workload(workload, contenders, workers, results);
        }
    }
}

/// One workload: a row for each contender, and for each number of workers the time
/// with its middle half, how many times as fast as tokio that is, and as tokio with
/// all its drivers, and the CPU time as a multiple of tokio's.
fn print_workload(workload: &str, contenders: &[Contender], workers: &[usize], results: &Results) {
    let mut head = format!("{:<18}", "workers");
    for workers in workers {
        head += &format!(
            "{workers:>4}{:>20}{:>9}{:>8}{:>6}",
            "µs", "× tokio", "× all", "CPU"
        );
    }
    println!("{head}");
    for contender in contenders {
        let mut line = format!("{:<18}", contender.name);
        for workers in workers {
            let of = |name| results.get(&(name, parameter(workload, *workers)));
            let (own, tokio, all) = (of(contender.name), of("tokio"), of("tokio-enable-all"));
            let faster = |than: Option<&Measured>| {
                let (own, than) = (own?.median.wall, than?.median.wall);
                Some(than.div_duration_f64(own))
            };
            let cpu = own
                .zip(tokio)
                .and_then(|(own, tokio)| Some(own.median.cpu?.div_duration_f64(tokio.median.cpu?)));
            let cell =
                |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:.2}"));
            line += &format!(
                "{:>24}{:>9}{:>8}{:>6}",
                own.map_or("–".into(), time_of),
                cell(faster(tokio)),
                cell(faster(all)),
                cell(cpu)
            );
        }
        println!("{line}  {}", contender.notes);
    }
}

/// The median, and the middle half, in microseconds.
fn time_of(own: &Measured) -> String {
    let [median, lower, upper] = [own.median.wall, own.middle_half[0], own.middle_half[1]]
        .map(|time| format!("{:.0}", time.as_secs_f64() * 1e6));
    format!("{median} [{lower}–{upper}]")
}
