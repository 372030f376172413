//! What a scheduler does under load: the cells of the benchmark `under_load`.

pub mod build;
pub mod burst;
pub mod busy;
pub mod census;
pub mod fairness;
pub mod hoarding;
pub mod latch;
pub mod latency;
pub mod mixed;
pub mod report;
pub mod rounds;
pub mod turns;

use std::fmt;
use std::time::Duration;

use super::Scheduler;
use super::measure::is_test;
use busy::{Habit, Load};

/// What hasn't come by then counts as never.
pub const PATIENCE: Duration = Duration::from_millis(500);

/// Returns so many milliseconds, or next to nothing in a test.
pub fn duration(millis: u64) -> Duration {
    Duration::from_millis(if is_test() { millis.min(2) } else { millis })
}

/// Returns so many tasks, or a few in a test.
pub fn count(tasks: usize) -> usize {
    if is_test() { tasks.min(1_000) } else { tasks }
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// How long tasks from outside wait while every worker is busy.
    Latency(Load),
    /// How long requests take when one in a hundred is long.
    Mixed,
    /// Whether one worker keeps what comes from outside.
    Hoarding,
    /// How the workers share their time between local and remote tasks.
    Fairness,
    /// How soon a second worker helps with so many tasks from outside.
    Burst(usize),
    /// How evenly tasks get their turns.
    Turns(Habit),
}

/// What one round of a cell gave.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// In nanoseconds, some series of them.
    pub waits: Vec<Vec<f64>>,
    /// Single figures, times among them in nanoseconds.
    pub figures: Vec<f64>,
}

/// All cells, in the order of the report.
pub fn all() -> Vec<Cell> {
    use Habit::{PingPongs, WakesItself, Yields};
    let mut cells = Vec::new();
    for habit in [Yields, WakesItself, PingPongs] {
        for micros in [10, 100, 1_000] {
            let poll = Duration::from_micros(micros);
            cells.push(Cell::Latency(Load { habit, poll }));
        }
    }
    cells.extend([Cell::Mixed, Cell::Hoarding, Cell::Fairness]);
    cells.extend([10_000, 100_000, 1_000_000].map(Cell::Burst));
    cells.extend([Yields, WakesItself].map(Cell::Turns));
    cells
}

impl Cell {
    /// Measures it once.
    pub fn measure<S: Scheduler>(self, scheduler: &S, workers: usize) -> Sample {
        match self {
            Self::Latency(load) => latency::measure(scheduler, workers, load),
            Self::Mixed => mixed::measure(scheduler, workers),
            Self::Hoarding => hoarding::measure(scheduler, workers),
            Self::Fairness => fairness::measure(scheduler, workers),
            Self::Burst(tasks) => burst::measure(scheduler, tasks),
            Self::Turns(habit) => turns::measure(scheduler, habit),
        }
    }

    /// Says what it measures.
    pub fn what(self) -> String {
        match self {
            Self::Latency(Load { habit, poll }) => format!(
                "from outside, while every worker polls four tasks that {}, {poll:?} a poll",
                match habit {
                    Habit::Yields => "yield",
                    Habit::WakesItself => "wake themselves",
                    Habit::PingPongs => "wake one another",
                }
            ),
            Self::Mixed => "requests from outside at half of what the processors can do, \
                            10 µs each, one in a hundred 1 ms: from spawn to end"
                .into(),
            Self::Hoarding => "100 tasks of 1 ms from outside, beside tasks that yield, 20 µs a \
                               poll"
                .into(),
            Self::Fairness => "5,000 tasks of 10 µs from outside always wait, beside tasks that \
                               yield, 10 µs a poll; polls in 150 ms"
                .into(),
            Self::Burst(tasks) => format!("{tasks} tasks from outside at once, all workers idle"),
            Self::Turns(Habit::Yields) => "200 tasks that only yield; turns in 150 ms".into(),
            Self::Turns(_) => "200 tasks that only wake themselves; turns in 150 ms".into(),
        }
    }
}

/// The name that chooses a cell.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |habit| match habit {
            Habit::Yields => "yield",
            Habit::WakesItself => "wake",
            Habit::PingPongs => "ping-pong",
        };
        match *self {
            Self::Latency(Load { habit, poll }) => {
                write!(f, "latency/{}/{}us", name(habit), poll.as_micros())
            }
            Self::Mixed => f.write_str("mixed"),
            Self::Hoarding => f.write_str("hoarding"),
            Self::Fairness => f.write_str("fairness"),
            Self::Burst(tasks) => write!(f, "burst/{tasks}"),
            Self::Turns(habit) => write!(f, "turns/{}", name(habit)),
        }
    }
}
