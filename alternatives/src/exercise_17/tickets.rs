//! The queue shuffles: each `pop` gives every task a ticket, a random number,
//! and the lowest ticket wins. The clock has a list for each deadline. The wire
//! is the solution's.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::task::Waker;
use std::time::Duration;

super::given! {}

#[path = "../../../solutions/17-simulator/src/wire.rs"]
mod wire;

pub use wire::Wire;

/// Virtual time, and the wakers that wait for it.
pub struct Clock {
    now: Duration,
    /// The wakers of each deadline, in the order of the calls. No list is
    /// empty.
    waiting: BTreeMap<Duration, VecDeque<(u64, Waker)>>,
    timer_count: u64,
}

/// A waker's place in the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    deadline: Duration,
    number: u64,
}

impl Clock {
    /// Creates a clock that shows zero and on which nothing waits.
    #[expect(clippy::new_without_default, reason = "as in the exercise")]
    pub fn new() -> Self {
        Self {
            now: Duration::ZERO,
            waiting: BTreeMap::new(),
            timer_count: 0,
        }
    }

    /// Returns the time that has passed since the clock was made.
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Stores a waker that is due at `deadline`.
    pub fn wake_at(&mut self, deadline: Duration, waker: Waker) -> Timer {
        self.timer_count += 1;
        let number = self.timer_count;
        let list = self.waiting.entry(deadline).or_default();
        list.push_back((number, waker));
        Timer { deadline, number }
    }

    /// Takes a waker out again, unless it was due already.
    pub fn cancel(&mut self, timer: Timer) -> Option<Waker> {
        let list = self.waiting.get_mut(&timer.deadline)?;
        let index = list.iter().position(|it| it.0 == timer.number)?;
        let (_, waker) = list.remove(index)?;
        if list.is_empty() {
            self.waiting.remove(&timer.deadline);
        }
        Some(waker)
    }

    /// Returns the earliest deadline that a waker waits for.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.waiting
            .first_key_value()
            .map(|(deadline, _)| *deadline)
    }

    /// Sets the clock, and takes out the wakers that are due.
    pub fn advance_to(&mut self, time: Duration) -> Vec<Waker> {
        if time > self.now {
            self.now = time;
        }
        let just_after = self.now + Duration::from_nanos(1);
        let later = self.waiting.split_off(&just_after);
        let due = std::mem::replace(&mut self.waiting, later);
        let due = due.into_values().flatten();
        due.map(|(_, waker)| waker).collect()
    }
}

/// The tasks that are ready.
pub struct ReadyQueue {
    tasks: Vec<TaskId>,
}

impl ReadyQueue {
    /// Creates a queue without tasks.
    #[expect(clippy::new_without_default, reason = "as in the exercise")]
    pub fn new() -> Self {
        Self { tasks: Vec::new() }
    }

    /// Adds a task, unless it's there already.
    pub fn push(&mut self, task: TaskId) {
        self.tasks.retain(|it| *it != task);
        self.tasks.push(task);
    }

    /// Takes out one of the tasks, each with the same probability.
    pub fn pop(&mut self, random: &mut Random) -> Option<TaskId> {
        let tickets = self.tasks.iter().map(|_| random.bits());
        let tickets = tickets.enumerate();
        let (winner, _) = tickets.min_by_key(|(_, ticket)| *ticket)?;
        Some(self.tasks.remove(winner))
    }
}

/// What happens next.
enum Step {
    Poll(TaskId),
    Jump(Duration),
}

/// Runs the tasks until `main` is over.
///
/// # Errors
///
/// Returns why the simulation stopped earlier.
pub fn drive(world: &World, main: TaskId) -> Result<(), Stop> {
    let next = || {
        let task = world.next_task().map(Step::Poll);
        task.or_else(|| world.next_deadline().map(Step::Jump))
    };
    while let Some(step) = next() {
        let time = match step {
            Step::Poll(task) => {
                let is_over = world.poll(task)?;
                if is_over && task == main {
                    return Ok(());
                }
                world.now() + POLL
            }
            Step::Jump(deadline) => deadline,
        };
        if time > TIME_LIMIT {
            return Err(Stop::TimeLimit(world.waiting()));
        }
        world.advance_to(time);
    }
    Err(Stop::Deadlock(world.waiting()))
}

/// A seed with which a scenario fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// The seed.
    pub seed: u64,
    /// What went wrong.
    pub failure: String,
    /// What happened.
    pub trace: String,
    /// Whether a second run failed with the same trace.
    pub is_replayed: bool,
}

/// Looks for a seed.
pub fn find(
    seeds: Range<u64>,
    scenario: impl Fn(&Simulation) -> Result<(), String>,
) -> Option<Failing> {
    let run = |seed| {
        let simulation = Simulation::new(seed);
        let failure = scenario(&simulation).err();
        failure.map(|failure| Failing {
            seed,
            trace: simulation.trace(&failure),
            failure,
            is_replayed: false,
        })
    };
    let mut found = seeds.into_iter().find_map(run)?;
    found.is_replayed = run(found.seed).as_ref() == Some(&found);
    Some(found)
}
