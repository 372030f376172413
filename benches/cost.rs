//! What a piece of work costs: time on the clock, and CPU time of all threads.

use std::time::{Duration, Instant};

/// The cost of a piece of work.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// From its beginning to its end.
    pub wall: Duration,
    /// What all threads of this process used meanwhile, user and system.
    /// `None` where the operating system doesn't tell.
    pub cpu: Option<Duration>,
}

impl Cost {
    /// How many processors it used at a time, on average. NaN where the operating
    /// system doesn't tell.
    pub fn cores(&self) -> f64 {
        self.cpu_ns() / self.wall.as_nanos() as f64
    }

    /// The CPU time in nanoseconds. NaN where the operating system doesn't tell.
    pub fn cpu_ns(&self) -> f64 {
        self.cpu.map_or(f64::NAN, |cpu| cpu.as_nanos() as f64)
    }
}

/// Runs `work` and returns its result and its cost.
pub fn of<R>(work: impl FnOnce() -> R) -> (R, Cost) {
    let (start, cpu_before) = (Instant::now(), cpu_time());
    let result = work();
    let wall = start.elapsed();
    let cpu = cpu_time().zip(cpu_before);
    let cpu = cpu.map(|(after, before)| after.saturating_sub(before));
    (result, Cost { wall, cpu })
}

/// CPU time of this process so far.
#[cfg(unix)]
fn cpu_time() -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.try_into().ok()
}

#[cfg(not(unix))]
fn cpu_time() -> Option<Duration> {
    None
}
