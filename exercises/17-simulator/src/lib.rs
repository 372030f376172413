//! Exercise 17: a runtime that replays.
//!
//! The chapter is `src/io/simulator.md`. Check your version with
//! `cargo test -p exercise-17`.
//!
//! The other files here are given. Start with `world.rs`, which has the tasks,
//! and calls your clock and your queue. `net.rs` has the sockets, and calls
//! your wire. `simulation.rs` calls your loop.
//!
//! # Contract
//!
//! The clock:
//!
//! 1. **Stands still.** A new clock shows zero. Only [`Clock::advance_to`]
//!    moves it: to the time that it's given, or not at all if the clock shows a
//!    later time.
//! 2. **Due.** [`Clock::advance_to`] takes out and returns each waker whose
//!    deadline isn't later than the time that the clock then shows, and no
//!    other. The wakers are in the order of their deadlines; those with the
//!    same deadline are in the order in which they were stored.
//! 3. **Cancelled.** [`Clock::cancel`] takes out and returns the waker of its
//!    timer, and no other. It returns `None` if that waker is no longer there.
//! 4. **The next one.** [`Clock::next_deadline`] returns the earliest deadline
//!    of the wakers that are there, or `None` if there are none.
//!
//! The queue:
//!
//! 5. **Each once.** A task that's pushed is returned by exactly one
//!    [`ReadyQueue::pop`], no matter how often it was pushed before that. If
//!    it's pushed after that, it's in the queue again. If the queue is empty,
//!    `pop` returns `None`.
//! 6. **By the seed.** Each of the tasks in the queue is equally likely to be
//!    next. The numbers of the [`Random`] that's passed to `pop`, and the
//!    earlier calls of `push` and `pop`, determine which one is.
//!
//! The wire:
//!
//! 7. **In order.** [`Wire::receive`] reads bytes in the order in which they
//!    were sent, each once, and as many as have arrived and fit. A byte arrives
//!    at the time that `send` was given, or together with a byte that was sent
//!    before it, if that byte arrives later.
//! 8. **The end.** The end of the stream comes after all bytes, and no earlier
//!    than the time that `end` was given. From then on, `receive` returns
//!    `Some(0)`. What is sent after the end is lost.
//! 9. **The next arrival.** [`Wire::next_arrival`] returns the time from which
//!    `receive` returns `Some`, which may be in the past. It returns `None` if
//!    `receive` returns `None` until another call of `send` or `end`.
//!
//! The loop:
//!
//! 10. **Tasks first.** [`drive`] polls the tasks that are ready. It takes a
//!     task out of the queue only to poll it at once, and each poll takes
//!     [`POLL`]. If none is ready, the clock jumps to the next deadline.
//! 11. **Stops.** `drive` returns as soon as the main task is over. It returns
//!     [`Stop::Deadlock`] when no task is ready and none waits for a time,
//!     [`Stop::TimeLimit`] before the clock shows a time after [`TIME_LIMIT`],
//!     even if there's always a task that's ready, and the error of a poll that
//!     panics. The last poll may begin at [`TIME_LIMIT`] itself.
//! 12. **Replays.** The seed and the program determine everything that happens
//!     in a simulation. Two runs with the same seed have the same trace, byte
//!     by byte.
//! 13. **Finds.** [`find`] returns the first of the seeds with which the
//!     scenario fails, and runs no later one. It runs the scenario with that
//!     seed twice, and says whether both runs failed with the same trace.
//!
//! # Milestones
//!
//! You needn't write everything before the first check is green. A check that
//! reaches a `todo!` counts as not written yet, and not as a failure.
//!
//! 1. **A clock.** Clauses 1 to 4: [`Clock`].
//! 2. **An order.** Clauses 5 and 6: [`ReadyQueue`].
//! 3. **A network.** Clauses 7 to 9: [`Wire`].
//! 4. **A replay.** Clauses 10 to 13: [`drive`] and [`find`].
//!
//! # Examples
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use exercise_17::{Simulation, now, sleep};
//!
//! // Half a minute passes in a moment.
//! let simulation = Simulation::new(17);
//! let woken = simulation.run(async {
//!     sleep(Duration::from_secs(30)).await;
//!     now()
//! });
//! assert_eq!(woken, Ok(Duration::from_secs(30)));
//! ```

pub mod net;
mod random;
mod recorder;
mod simulation;
#[cfg(test)]
mod tests;
mod time;
mod world;

use std::ops::Range;
use std::task::Waker;
use std::time::Duration;

pub use local_executor::{JoinHandle, outcome};
pub use net::Faults;
pub use random::Random;
pub use simulation::{
    Simulation, Stop, TIME_LIMIT, random_below, random_duration, spawn,
    spawn_on,
};
pub use time::{Elapsed, Sleep, now, sleep, sleep_until, timeout};
pub use world::{POLL, TaskId, World};

/// Virtual time, and the wakers that wait for it. It starts at zero.
pub struct Clock {}

/// A waker's place in the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {}

impl Clock {
    /// Creates a clock that shows zero and on which nothing waits.
    #[expect(
        clippy::new_without_default,
        reason = "one way to make it is enough"
    )]
    pub fn new() -> Self {
        todo!("it shows zero, and there are no wakers")
    }

    /// Returns the time that has passed since the clock was made.
    pub fn now(&self) -> Duration {
        todo!("the time that it shows")
    }

    /// Stores a waker that is due at `deadline`.
    pub fn wake_at(&mut self, deadline: Duration, waker: Waker) -> Timer {
        let _ = (deadline, waker);
        todo!("store the waker in the order of the deadlines")
    }

    /// Takes a waker out again, unless it was due already.
    pub fn cancel(&mut self, timer: Timer) -> Option<Waker> {
        let _ = timer;
        todo!("take out the waker of this timer")
    }

    /// Returns the earliest deadline that a waker waits for.
    pub fn next_deadline(&self) -> Option<Duration> {
        todo!("the first deadline")
    }

    /// Sets the clock to `time`, unless it shows a later time already. Takes
    /// out the wakers that are due, in the order of their deadlines.
    pub fn advance_to(&mut self, time: Duration) -> Vec<Waker> {
        let _ = time;
        todo!("set the time, and take out the wakers that are due")
    }
}

/// The tasks that are ready.
pub struct ReadyQueue {}

impl ReadyQueue {
    /// Creates a queue without tasks.
    #[expect(
        clippy::new_without_default,
        reason = "one way to make it is enough"
    )]
    pub fn new() -> Self {
        todo!("there are no tasks")
    }

    /// Adds a task, unless it's there already.
    pub fn push(&mut self, task: TaskId) {
        let _ = task;
        todo!("add the task")
    }

    /// Takes out one of the tasks, each with the same probability.
    pub fn pop(&mut self, random: &mut Random) -> Option<TaskId> {
        let _ = random;
        todo!("have `random` choose one")
    }
}

/// The bytes that are on their way, or have arrived and wait to be read.
pub struct Wire {}

impl Wire {
    /// Creates a wire on which nothing was sent.
    #[expect(
        clippy::new_without_default,
        reason = "one way to make it is enough"
    )]
    pub fn new() -> Self {
        todo!("nothing is on its way")
    }

    /// Sends bytes that arrive at `arrival`, or when everything that was sent
    /// earlier has arrived, if that's later.
    pub fn send(&mut self, bytes: &[u8], arrival: Duration) {
        let _ = (bytes, arrival);
        todo!("store the bytes and their arrival")
    }

    /// Sends the end of the stream, which doesn't overtake a byte either. What
    /// is sent later is lost.
    pub fn end(&mut self, arrival: Duration) {
        let _ = arrival;
        todo!("store when the end arrives")
    }

    /// Returns when there's something to read, which may be in the past: a
    /// byte, or else the end.
    pub fn next_arrival(&self) -> Option<Duration> {
        todo!("the arrival of the first byte, or else of the end")
    }

    /// Reads bytes that have arrived by `now` into a buffer that isn't empty.
    /// Returns their number, 0 at the end, and `None` if nothing has arrived.
    pub fn receive(
        &mut self,
        now: Duration,
        buffer: &mut [u8],
    ) -> Option<usize> {
        let _ = (now, buffer);
        todo!("fill the buffer with bytes that have arrived")
    }
}

/// Runs the tasks until `main` is over.
///
/// # Errors
///
/// Returns why the simulation stopped earlier.
pub fn drive(world: &World, main: TaskId) -> Result<(), Stop> {
    let _ = (world, main);
    todo!("poll what is ready, or else let the clock jump")
}

/// A seed with which a scenario fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// The seed.
    pub seed: u64,
    /// What went wrong.
    pub failure: String,
    /// What happened, for the book's timeline.
    pub trace: String,
    /// Whether a second run with this seed failed with the same trace.
    pub is_replayed: bool,
}

/// Runs a scenario with one seed after the other until it fails, and then a
/// second time with the seed that failed. A scenario gets a new simulation,
/// runs in it and says what went wrong.
pub fn find(
    seeds: Range<u64>,
    scenario: impl Fn(&Simulation) -> Result<(), String>,
) -> Option<Failing> {
    let _ = (seeds, scenario);
    todo!("a new `Simulation` for each seed, until the scenario fails")
}
