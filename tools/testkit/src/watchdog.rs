//! Tells a check that is slow from one that will never end.

use std::time::{Duration, Instant};

use crate::lesson::{BUSY, HANGS, SPINS};
use crate::stacks::{self, Stand};
use crate::threads::{Sample, samples, this_thread};
use crate::{hangs, panics};

/// How long a check may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// CPU time of all its threads together: what a busy loop runs into,
    /// however slow or loaded the machine.
    pub cpu: Duration,
    /// Time on the clock, whatever the threads do; less the time for which
    /// they stood in line for a CPU.
    pub wall: Duration,
    /// Time on the clock with nothing taken off. Whoever comes here has stood
    /// in line nearly all the time, and nothing can be said of the check.
    pub at_most: Duration,
}

impl Limits {
    /// For a check. A healthy one takes at most a fifth of a second.
    pub const CHECK: Self = Self {
        cpu: Duration::from_secs(4),
        wall: Duration::from_secs(15),
        at_most: Duration::from_secs(120),
    };
    /// For a model, which is explored rather than run.
    pub const MODEL: Self = Self {
        cpu: Duration::from_secs(40),
        wall: Duration::from_secs(200),
        at_most: Duration::from_secs(800),
    };
}

/// How often the watchdog looks.
pub(crate) const INTERVAL: Duration = Duration::from_millis(25);
/// How long all threads must have slept, without having used the CPU in
/// between, before the check is said to hang. No check waits this long for
/// the clock.
const ASLEEP: Duration = Duration::from_millis(800);
/// The most that counts of the time between two looks. If it is more, the
/// watchdog itself stood in line, or the whole machine was halted.
const MOST: Duration = INTERVAL.saturating_mul(4);

/// Watches the threads of this process from one that only watches.
pub(crate) struct Watchdog {
    limits: Limits,
    started: Instant,
    last_look: Instant,
    last: Vec<Sample>,
    /// For how long the threads could do what they had to do.
    counted: Duration,
    /// For how much of it all have been asleep by now.
    still: Duration,
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

    /// Adds where the threads stand, by what the watchdog saw last. `folder` is
    /// the exercise's.
    pub fn locate(&mut self, watchdog: &Watchdog, folder: &str) {
        if self.seen.starts_with(BUSY) {
            return;
        }
        let stands = stacks::take(&watchdog.last, folder);
        for (line, stand) in self.threads.iter_mut().zip(&stands) {
            if let Some(place) = stand.as_ref().and_then(Stand::describe) {
                *line = place;
            }
        }
        let known: Vec<_> = stands.into_iter().flatten().collect();
        if self.seen.starts_with(HANGS) {
            self.seen = hangs::in_words(&known).unwrap_or_else(|| self.seen.clone());
        } else if self.seen.starts_with(SPINS)
            && let Some(place) = hangs::spins(&known)
        {
            self.seen += &format!(", in {place}");
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
            last_look: now,
            last: Vec::new(),
            counted: Duration::ZERO,
            still: Duration::ZERO,
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
        let passed = now - self.last_look;
        let counts = self.counts_of(passed, &current);
        self.counted += counts;
        let all_asleep = !current.is_empty() && current.iter().all(|thread| thread.state == 'S');
        if all_asleep && current == self.last {
            self.still += counts;
        } else {
            self.still = Duration::ZERO;
        }
        self.last_look = now;
        self.last = current;
        self.verdict(now - self.started)
    }

    /// How much counts of the time that has passed since the last look. If a
    /// thread is ready to run, only as much as the threads have run: for the
    /// rest they stood in line, behind those of other processes.
    fn counts_of(&self, passed: Duration, current: &[Sample]) -> Duration {
        let counts = if current.iter().any(|thread| thread.state == 'R') {
            let ran = current.iter().map(|thread| self.ran(thread));
            ran.max().unwrap_or_default()
        } else {
            passed
        };
        counts.min(passed).min(MOST)
    }

    /// How long the thread has run since the last look.
    fn ran(&self, thread: &Sample) -> Duration {
        let before = self.last.iter().find(|before| before.id == thread.id);
        let before = before.map_or(0, |before| before.cpu_ns);
        Duration::from_nanos(thread.cpu_ns.saturating_sub(before))
    }

    fn verdict(&self, elapsed: Duration) -> Option<Verdict> {
        let cpu = Duration::from_nanos(self.last.iter().map(|thread| thread.cpu_ns).sum());
        let seen = if self.still >= ASLEEP {
            format!(
                "{HANGS}: every thread sleeps, and nothing is left to wake one. A wake-up was lost, \
                 or never sent, or a thread is stuck in a lock inside `wake`"
            )
        } else if cpu >= self.limits.cpu {
            format!(
                "{SPINS}: {:.0} s of CPU time were used, by a loop that makes no progress",
                cpu.as_secs_f64()
            )
        } else if self.counted >= self.limits.wall {
            format!("it was not done after {} s", self.limits.wall.as_secs())
        } else if elapsed >= self.limits.at_most {
            format!(
                "{BUSY}: in {} s its threads got {:.1} s of CPU time, and stood in line for more",
                elapsed.as_secs(),
                cpu.as_secs_f64()
            )
        } else {
            return None;
        };
        Some(Verdict {
            seen,
            threads: self.last.iter().map(Sample::describe).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn thread(state: char, cpu_ms: u64) -> Sample {
        Sample {
            id: 7,
            name: "check".into(),
            state,
            cpu_ns: cpu_ms * 1_000_000,
        }
    }

    /// What counts of the time between two looks at a thread.
    fn counts(before: Sample, passed: Duration, now: Sample) -> Duration {
        let mut watchdog = Watchdog::new(Limits::CHECK);
        watchdog.last = vec![before];
        watchdog.counts_of(passed, &[now])
    }

    #[test]
    fn time_counts_for_who_sleeps_and_for_who_runs() {
        let asleep = counts(thread('S', 3), INTERVAL, thread('S', 3));
        assert_eq!(asleep, INTERVAL, "all asleep");
        let running = counts(thread('R', 3), INTERVAL, thread('R', 28));
        assert_eq!(running, INTERVAL, "running");
    }

    #[test]
    fn time_in_line_does_not_count() {
        let in_line = counts(thread('S', 3), INTERVAL, thread('R', 3));
        assert_eq!(in_line, Duration::ZERO, "no turn");
        let one_turn = counts(thread('R', 3), INTERVAL, thread('R', 4));
        assert_eq!(one_turn, Duration::from_millis(1), "one short turn");
    }

    #[test]
    fn a_late_look_counts_for_little() {
        let late = counts(thread('S', 3), 20 * SECOND, thread('S', 3));
        assert_eq!(late, MOST);
    }

    #[test]
    fn who_stood_in_line_is_told_so() {
        let mut watchdog = Watchdog::new(Limits::CHECK);
        watchdog.counted = 14 * SECOND;
        assert!(watchdog.verdict(119 * SECOND).is_none());
        let seen = watchdog.verdict(120 * SECOND).expect("it must end").seen;
        assert!(seen.starts_with(BUSY), "{seen}");
        watchdog.counted = 15 * SECOND;
        let seen = watchdog.verdict(120 * SECOND).expect("it must end").seen;
        assert!(seen.starts_with("it was not done"), "{seen}");
    }
}
