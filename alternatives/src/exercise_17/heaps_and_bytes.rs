//! The clock is a heap of deadlines, in which cancelled timers stay until
//! they're on top, and a map of the wakers. The queue is a set that's in order.
//! The wire has one entry for each byte.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, VecDeque};
use std::iter;
use std::ops::Range;
use std::task::Waker;
use std::time::Duration;

super::given! {}

/// Virtual time, and the wakers that wait for it.
pub struct Clock {
    now: Duration,
    deadlines: BinaryHeap<Reverse<(Duration, u64)>>,
    /// The wakers by the numbers of their timers. It's never iterated.
    wakers: HashMap<u64, Waker>,
    timer_count: u64,
}

/// A waker's place in the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer(u64);

impl Clock {
    /// Creates a clock that shows zero and on which nothing waits.
    #[expect(clippy::new_without_default, reason = "as in the exercise")]
    pub fn new() -> Self {
        Self {
            now: Duration::ZERO,
            deadlines: BinaryHeap::new(),
            wakers: HashMap::new(),
            timer_count: 0,
        }
    }

    /// Returns the time that has passed since the clock was made.
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Stores a waker that is due at `deadline`.
    pub fn wake_at(&mut self, deadline: Duration, waker: Waker) -> Timer {
        let number = self.timer_count;
        self.timer_count += 1;
        self.deadlines.push(Reverse((deadline, number)));
        self.wakers.insert(number, waker);
        Timer(number)
    }

    /// Takes a waker out again, unless it was due already.
    pub fn cancel(&mut self, timer: Timer) -> Option<Waker> {
        let waker = self.wakers.remove(&timer.0);
        // So the top is always a timer that waits.
        while let Some(Reverse((_, number))) = self.deadlines.peek() {
            if self.wakers.contains_key(number) {
                break;
            }
            self.deadlines.pop();
        }
        waker
    }

    /// Returns the earliest deadline that a waker waits for.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.deadlines
            .peek()
            .map(|Reverse((deadline, _))| *deadline)
    }

    /// Sets the clock, and takes out the wakers that are due.
    pub fn advance_to(&mut self, time: Duration) -> Vec<Waker> {
        self.now = self.now.max(time);
        let mut due = Vec::new();
        while self.next_deadline().is_some_and(|it| it <= self.now) {
            let Some(Reverse((_, number))) = self.deadlines.pop() else {
                break;
            };
            due.extend(self.cancel(Timer(number)));
        }
        due
    }
}

/// The tasks that are ready.
pub struct ReadyQueue {
    tasks: BTreeSet<TaskId>,
}

impl ReadyQueue {
    /// Creates a queue without tasks.
    #[expect(clippy::new_without_default, reason = "as in the exercise")]
    pub fn new() -> Self {
        Self {
            tasks: BTreeSet::new(),
        }
    }

    /// Adds a task, unless it's there already.
    pub fn push(&mut self, task: TaskId) {
        self.tasks.insert(task);
    }

    /// Takes out one of the tasks, each with the same probability.
    pub fn pop(&mut self, random: &mut Random) -> Option<TaskId> {
        // Each task displaces the one that was chosen before it with the
        // probability that makes all equally likely.
        let mut chosen = None;
        for (count, &task) in (1..).zip(&self.tasks) {
            if random.one_in(count) {
                chosen = Some(task);
            }
        }
        chosen.inspect(|task| {
            self.tasks.remove(task);
        })
    }
}

/// The bytes that are on their way, each with its arrival, and the end.
pub struct Wire {
    bytes: VecDeque<(u8, Duration)>,
    last_arrival: Duration,
    end: Option<Duration>,
}

impl Wire {
    /// Creates a wire on which nothing was sent.
    #[expect(clippy::new_without_default, reason = "as in the exercise")]
    pub fn new() -> Self {
        Self {
            bytes: VecDeque::new(),
            last_arrival: Duration::ZERO,
            end: None,
        }
    }

    /// Sends bytes.
    pub fn send(&mut self, bytes: &[u8], arrival: Duration) {
        if self.end.is_some() || bytes.is_empty() {
            return;
        }
        self.last_arrival = self.last_arrival.max(arrival);
        let arrivals = iter::repeat(self.last_arrival);
        self.bytes.extend(bytes.iter().copied().zip(arrivals));
    }

    /// Sends the end of the stream.
    pub fn end(&mut self, arrival: Duration) {
        let last = self.last_arrival;
        self.end.get_or_insert(last.max(arrival));
    }

    /// Returns when there's something to read.
    pub fn next_arrival(&self) -> Option<Duration> {
        match self.bytes.front() {
            Some((_, arrival)) => Some(*arrival),
            None => self.end,
        }
    }

    /// Reads bytes that have arrived by `now`.
    pub fn receive(
        &mut self,
        now: Duration,
        buffer: &mut [u8],
    ) -> Option<usize> {
        let arrived = self.bytes.partition_point(|(_, it)| *it <= now);
        let count = arrived.min(buffer.len());
        for (to, (byte, _)) in buffer.iter_mut().zip(self.bytes.drain(..count))
        {
            *to = byte;
        }
        let is_over =
            self.bytes.is_empty() && self.end.is_some_and(|it| it <= now);
        (count > 0 || is_over).then_some(count)
    }
}

/// Runs the tasks until `main` is over.
///
/// # Errors
///
/// Returns why the simulation stopped earlier.
pub fn drive(world: &World, main: TaskId) -> Result<(), Stop> {
    loop {
        while let Some(task) = world.next_task() {
            if world.poll(task)? && task == main {
                return Ok(());
            }
            advance(world, world.now() + POLL)?;
        }
        match world.next_deadline() {
            Some(deadline) => advance(world, deadline)?,
            None => return Err(Stop::Deadlock(world.waiting())),
        }
    }
}

fn advance(world: &World, time: Duration) -> Result<(), Stop> {
    if time > TIME_LIMIT {
        return Err(Stop::TimeLimit(world.waiting()));
    }
    world.advance_to(time);
    Ok(())
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
    mut seeds: Range<u64>,
    scenario: impl Fn(&Simulation) -> Result<(), String>,
) -> Option<Failing> {
    let run = |seed| {
        let simulation = Simulation::new(seed);
        let failure = scenario(&simulation).err()?;
        Some((simulation.trace(&failure), failure))
    };
    seeds.find_map(|seed| {
        let (trace, failure) = run(seed)?;
        let is_replayed = run(seed).is_some_and(|(again, _)| again == trace);
        Some(Failing {
            seed,
            failure,
            trace,
            is_replayed,
        })
    })
}
