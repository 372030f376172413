//! How long this thread has run.

use std::fs;
use std::time::{Duration, Instant};

/// A moment, in the time that this thread has run. Where the system doesn't tell
/// it, all time counts.
#[derive(Clone, Copy)]
pub enum RunTime {
    Thread(Duration),
    Wall(Instant),
}

impl RunTime {
    pub fn now() -> Self {
        thread_time().map_or_else(|| Self::Wall(Instant::now()), Self::Thread)
    }

    /// How long this thread has run since.
    pub fn elapsed(self) -> Duration {
        match self {
            Self::Thread(start) => thread_time().unwrap_or(start).saturating_sub(start),
            Self::Wall(start) => start.elapsed(),
        }
    }
}

/// How long this thread has run since it was started, where the system tells it.
fn thread_time() -> Option<Duration> {
    // Linux: the time on a processor in ns, the time in its run queue, and the time slices.
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let run_ns = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(run_ns))
}
