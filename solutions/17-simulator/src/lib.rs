//! Solution 17: a runtime that replays.
//!
//! `clock`, `ready` and `wire` decide when something happens, and in which
//! order; `drive` is the loop that has it happen, and the search for a seed.
//! Everything else is in `world`: the tasks, and access to the rest. The sockets
//! are in `net`, and `recorder` writes down what happens.
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
//! # Examples
//!
//! ```
//! use std::time::Duration;
//!
//! use solution_17::{Simulation, now, sleep};
//!
//! // Half a minute passes in a moment.
//! let simulation = Simulation::new(17);
//! let woken = simulation.run(async {
//!     sleep(Duration::from_secs(30)).await;
//!     now()
//! });
//! assert_eq!(woken, Ok(Duration::from_secs(30)));
//! ```

mod clock;
mod drive;
#[path = "../../../exercises/17-simulator/src/net.rs"]
pub mod net;
#[path = "../../../exercises/17-simulator/src/random.rs"]
mod random;
mod ready;
#[path = "../../../exercises/17-simulator/src/recorder.rs"]
mod recorder;
#[path = "../../../exercises/17-simulator/src/simulation.rs"]
mod simulation;
#[cfg(test)]
#[path = "../../../exercises/17-simulator/src/tests/mod.rs"]
mod tests;
#[path = "../../../exercises/17-simulator/src/time.rs"]
mod time;
mod wire;
#[path = "../../../exercises/17-simulator/src/world.rs"]
mod world;

pub use clock::{Clock, Timer};
pub use drive::{Failing, drive, find};
pub use local_executor::{JoinHandle, outcome};
pub use net::Faults;
pub use random::Random;
pub use ready::ReadyQueue;
pub use simulation::{
    Simulation, Stop, TIME_LIMIT, random_below, random_duration, spawn,
    spawn_on,
};
pub use time::{Elapsed, Sleep, now, sleep, sleep_until, timeout};
pub use wire::Wire;
pub use world::{POLL, TaskId, World};
