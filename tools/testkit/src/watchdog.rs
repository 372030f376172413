//! Tells a check that is slow from one that will never end.

use std::time::{Duration, Instant};

use crate::lesson::HANGS;
use crate::panics;
use crate::threads::{Sample, samples, this_thread};

/// How long a check may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// CPU time of all its threads together: what a busy loop runs into,
    /// however slow or loaded the machine.
    pub cpu: Duration,
    /// Time on the clock, whatever the threads do.
    pub wall: Duration,
}

impl Limits {
    /// For a check. A healthy one takes at most a fifth of a second.
    pub const CHECK: Self = Self {
        cpu: Duration::from_secs(4),
        wall: Duration::from_secs(15),
    };
    /// For a model, which is explored rather than run.
    pub const MODEL: Self = Self {
        cpu: Duration::from_secs(40),
        wall: Duration::from_secs(200),
    };
}

/// How often the watchdog looks.
pub(crate) const INTERVAL: Duration = Duration::from_millis(25);
/// How long all threads must have slept, without having used the CPU in
/// between, before the check is said to hang. No check waits this long for
/// the clock.
const ASLEEP: Duration = Duration::from_millis(800);

/// Watches the threads of this process from one that only watches.
pub(crate) struct Watchdog {
    limits: Limits,
    started: Instant,
    last: Vec<Sample>,
    still_since: Instant,
    /// Threads that do not count: the one that watches, and the process's
    /// first, in which libtest waits.
    bystanders: Vec<u32>,
}

/// Why a check was ended, and what its threads were doing.
pub(crate) struct Verdict {
    pub seen: String,
    pub threads: Vec<String>,
}

impl Verdict {
    /// The verdict on a body that panicked with `message`.
    pub fn of_panic(message: &str) -> Self {
        Self {
            seen: panics::seen(message),
            threads: Vec::new(),
        }
    }
}

impl Watchdog {
    /// Starts watching; neither the calling thread nor the process's first
    /// one counts.
    pub fn new(limits: Limits) -> Self {
        let now = Instant::now();
        Self {
            limits,
            started: now,
            last: Vec::new(),
            still_since: now,
            bystanders: this_thread()
                .into_iter()
                .chain([std::process::id()])
                .collect(),
        }
    }

    /// Looks at the threads; returns a verdict once the check has to end.
    pub fn look(&mut self) -> Option<Verdict> {
        let now = Instant::now();
        let current = samples(&self.bystanders);
        let all_asleep = !current.is_empty() && current.iter().all(|thread| thread.state == 'S');
        if !all_asleep || current != self.last {
            self.still_since = now;
        }
        self.last = current;
        self.verdict(now)
    }

    fn verdict(&self, now: Instant) -> Option<Verdict> {
        let cpu = Duration::from_nanos(self.last.iter().map(|thread| thread.cpu_ns).sum());
        let seen = if now - self.still_since >= ASLEEP {
            format!(
                "{HANGS}: every thread sleeps, and nobody is left to wake one. A wake-up was lost, \
                 or never sent, or a thread is stuck in a lock inside `wake`"
            )
        } else if cpu >= self.limits.cpu {
            format!(
                "it never ends: {:.0} s of CPU time were used, by a loop that makes no progress",
                cpu.as_secs_f64()
            )
        } else if now - self.started >= self.limits.wall {
            format!("it was not done after {} s", self.limits.wall.as_secs())
        } else {
            return None;
        };
        Some(Verdict {
            seen,
            threads: self.last.iter().map(Sample::describe).collect(),
        })
    }
}
