//! A simulation, and what the simulated program calls.

use std::cell::RefCell;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;
use std::time::Duration;

use super::{Faults, JoinHandle, World, drive};

/// A simulation stops at this time, because its program makes no progress that
/// it would notice.
pub const TIME_LIMIT: Duration = Duration::from_secs(60);

/// How many waiting tasks a message names.
const SHOWN: usize = 4;

/// A program that runs by the seed's rules, on this thread.
pub struct Simulation {
    world: Rc<World>,
}

/// Why a simulation stopped before its main task was over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// No task is ready, and none waits for a time: nothing will happen any
    /// more. Contains the tasks that wait, and since when.
    Deadlock(Vec<(String, Duration)>),
    /// The time is over. Contains the tasks that wait, and since when.
    TimeLimit(Vec<(String, Duration)>),
    /// A task panicked, with this message.
    Panicked(String),
}

impl Simulation {
    /// Creates a world without tasks.
    pub fn new(seed: u64) -> Self {
        Self {
            world: World::new(seed),
        }
    }

    /// Sets what goes wrong in the network.
    #[must_use]
    pub fn faults(self, faults: Faults) -> Self {
        self.world.network.borrow_mut().faults = faults;
        self
    }

    /// Runs `main` as the first task, on the host 127.0.0.1, until it's ready,
    /// and returns its output.
    ///
    /// # Errors
    ///
    /// Returns why the simulation stopped earlier.
    pub fn run<F: Future + 'static>(&self, main: F) -> Result<F::Output, Stop> {
        let output = Rc::new(RefCell::new(None));
        let written = output.clone();
        let main = async move {
            let output = main.await;
            written.replace(Some(output));
        };
        self.world.enter(|| {
            let host = Ipv4Addr::LOCALHOST.into();
            let (id, _) = self.world.spawn("main".into(), host, main);
            drive(&self.world, id)
        })?;
        let output = output.take();
        Ok(output.expect("`drive` returns `Ok` once the main task is over"))
    }

    /// Returns the time since the start.
    pub fn now(&self) -> Duration {
        self.world.now()
    }

    /// Returns what has happened, in the format of the book's timeline. Two
    /// simulations with one seed give the same text, byte by byte.
    pub fn trace(&self, title: &str) -> String {
        self.world.recorder.borrow().to_json(title)
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        self.world.close();
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting = match self {
            Self::Panicked(message) => {
                return write!(f, "a task panicked: {message}");
            }
            Self::Deadlock(waiting) => {
                write!(f, "deadlock: nothing will wake any task;")?;
                waiting
            }
            Self::TimeLimit(waiting) => {
                write!(f, "not over after {TIME_LIMIT:?};")?;
                waiting
            }
        };
        for (index, (name, since)) in waiting.iter().take(SHOWN).enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma} {name} has waited since {since:?}")?;
        }
        match waiting.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            others => write!(f, ", and {others} more tasks wait"),
        }
    }
}

/// Creates a task on the host of the current task.
///
/// # Panics
///
/// If no simulation runs on this thread.
pub fn spawn<F: Future + 'static>(
    name: impl Into<String>,
    future: F,
) -> JoinHandle<F::Output> {
    spawn_on(World::current().host(), name, future)
}

/// Creates a task on a host.
///
/// # Panics
///
/// If no simulation runs on this thread.
pub fn spawn_on<F: Future + 'static>(
    host: IpAddr,
    name: impl Into<String>,
    future: F,
) -> JoinHandle<F::Output> {
    World::current().spawn(name.into(), host, future).1
}

/// Draws a duration between two.
///
/// # Panics
///
/// If no simulation runs on this thread.
pub fn random_duration(range: std::ops::Range<Duration>) -> Duration {
    World::current().random(|random| random.duration(range))
}

/// Draws a number from 0 to `limit - 1`.
///
/// # Panics
///
/// If `limit` is 0, or no simulation runs on this thread.
pub fn random_below(limit: u64) -> u64 {
    World::current().random(|random| random.below(limit))
}
