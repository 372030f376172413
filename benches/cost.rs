//! What a piece of work costs: time on the clock, and CPU time of all threads.

use std::time::{Duration, Instant};

/// The cost of a piece of work.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// From its beginning to its end.
    pub wall: Duration,
    /// What all threads of this process used meanwhile, user and system.
    /// `None` where the operating system does not tell.
    pub cpu: Option<Duration>,
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
