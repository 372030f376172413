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
pub fn patience() -> Duration {
    Duration::from_millis(if is_test() { 20 } else { 500 })
}

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
    Fairness(Habit),
    /// How soon a second worker helps with so many tasks from outside.
    Burst(usize),
    /// The same, if they came while all workers were busy.
    Release(usize),
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
        for micros in [1, 10, 100, 1_000] {
            let poll = Duration::from_micros(micros);
            cells.push(Cell::Latency(Load { habit, poll }));
        }
    }
    cells.extend([Cell::Mixed, Cell::Hoarding]);
    cells.extend([Yields, WakesItself].map(Cell::Fairness));
    cells.extend([10_000, 100_000, 1_000_000].map(Cell::Burst));
    cells.extend([10_000, 100_000].map(Cell::Release));
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
            Self::Fairness(habit) => fairness::measure(scheduler, workers, habit),
            Self::Burst(tasks) => burst::measure(scheduler, count(tasks)),
            Self::Release(tasks) => burst::release(scheduler, workers, count(tasks)),
            Self::Turns(habit) => turns::measure(scheduler, habit),
        }
    }

    /// Says what it measures.
    pub fn what(self) -> String {
        match self {
            Self::Latency(Load { habit, poll }) => format!(
                "from outside, while every worker polls four tasks that {}, {poll:?} a poll",
                habit.what()
            ),
            Self::Mixed => "requests from outside at half of what the processors can do, \
                            10 µs each, one in a hundred 1 ms: from when one is due to its end"
                .into(),
            Self::Hoarding => "100 tasks of 1 ms from outside, beside tasks that yield, 20 µs a \
                               poll"
                .into(),
            Self::Fairness(habit) => format!(
                "5,000 tasks of 10 µs from outside always wait, beside tasks that {}, 10 µs a \
                 poll; polls in 150 ms",
                habit.what()
            ),
            Self::Burst(tasks) => format!("{tasks} tasks from outside at once, all workers idle"),
            Self::Release(tasks) => format!(
                "{tasks} tasks came from outside while each worker was in a long poll, which \
                 has just ended"
            ),
            Self::Turns(habit) => {
                format!("200 tasks that only {}; turns in 150 ms", habit.what())
            }
        }
    }
}

/// The name that chooses a cell.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Latency(Load { habit, poll }) => {
                write!(f, "latency/{habit}/{}us", poll.as_micros())
            }
            Self::Mixed => f.write_str("mixed"),
            Self::Hoarding => f.write_str("hoarding"),
            Self::Fairness(habit) => write!(f, "fairness/{habit}"),
            Self::Burst(tasks) => write!(f, "burst/{tasks}"),
            Self::Release(tasks) => write!(f, "release/{tasks}"),
            Self::Turns(habit) => write!(f, "turns/{habit}"),
        }
    }
}
