//! Distinguishes a check that is slow from one that will never end.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::threads::{Sample, samples, this_thread};
use crate::verdict::{BUSY, Failure, HANGS, SPINS};

/// How long a check may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// CPU time of all its threads together: the limit that stops a busy loop, however slow or
    /// loaded the machine.
    pub cpu: Duration,
    /// Time on the clock, no matter what the threads do, minus the time for which they were ready
    /// but got no CPU.
    pub wall: Duration,
    /// Time on the clock with nothing subtracted. A check that reaches it has waited for a CPU
    /// nearly all the time, and nothing can be said about the check.
    pub at_most: Duration,
}

/// By what factor a check may take longer than usual, as in `TESTKIT_PATIENCE=10`.
const PATIENCE_VARIABLE: &str = "TESTKIT_PATIENCE";

impl Limits {
    /// For a check. A correct one takes at most a fifth of a second, or, if it steps through
    /// instructions, a few seconds, which are [excused](excuse).
    pub const CHECK: Self = Self {
        cpu: Duration::from_secs(4),
        wall: Duration::from_secs(15),
        at_most: Duration::from_secs(120),
    };
    /// For a model, which is explored, not run.
    pub const MODEL: Self = Self {
        cpu: Duration::from_secs(40),
        wall: Duration::from_secs(200),
        at_most: Duration::from_secs(800),
    };

    /// Those of a check, or a multiple of them if the environment asks for it. A factor below one
    /// shortens only the CPU time, because a busy machine doesn't add to that.
    pub fn of_check() -> Self {
        let asked = std::env::var(PATIENCE_VARIABLE).ok();
        let patience = asked.and_then(|text| text.parse::<f64>().ok());
        let patience = patience.filter(|patience| patience.is_finite());
        Self::CHECK.times(patience.unwrap_or(1.0))
    }

    fn times(self, patience: f64) -> Self {
        let patience = patience.clamp(0.1, 100.0);
        Self {
            cpu: self.cpu.mul_f64(patience),
            wall: self.wall.mul_f64(patience.max(1.0)),
            at_most: self.at_most.mul_f64(patience.max(1.0)),
        }
    }
}

/// How often the watchdog looks.
pub(crate) const INTERVAL: Duration = Duration::from_millis(25);
/// How long all threads must have slept, without having used the CPU in between, before the check
/// counts as hanging. No check waits this long for the clock.
const HANGS_AFTER: Duration = Duration::from_millis(800);
/// The most time between two samples that is credited to the threads. If more has passed, the
/// watchdog itself got no CPU, or the whole machine was halted.
const MAX_CREDIT: Duration = INTERVAL.saturating_mul(4);

/// CPU time that doesn't count, in nanoseconds.
static EXCUSED_NS: AtomicU64 = AtomicU64::new(0);

/// Doesn't count CPU time that the check itself has used on its way to an end: a step of a thread
/// that is run instruction by instruction takes ten times as long in one virtual machine as in
/// another.
pub(crate) fn excuse(cpu: Duration) {
    let ns = u64::try_from(cpu.as_nanos()).unwrap_or(u64::MAX);
    // Relaxed: only a sum.
    EXCUSED_NS.fetch_add(ns, Relaxed);
}

/// Watches the threads of this process from one that only watches.
pub(crate) struct Watchdog {
    limits: Limits,
    started: Instant,
    last_look: Instant,
    last: Vec<Sample>,
    /// CPU time of the threads that doesn't count.
    excused: Duration,
    /// For how long the threads were able to do what they had to do.
    credited: Duration,
    /// For how long all of them have slept by now.
    quiescent_for: Duration,
    /// Threads that are left out: the watching one, and the process's first, in which libtest
    /// waits.
    excluded: Vec<u32>,
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
            excused: Duration::ZERO,
            credited: Duration::ZERO,
            quiescent_for: Duration::ZERO,
            excluded: this_thread()
                .into_iter()
                .chain([std::process::id()])
                .collect(),
        }
    }

    /// Samples the threads; returns what was seen once the check has to end.
    pub fn look(&mut self) -> Option<Failure> {
        let now = Instant::now();
        let current = samples(&self.excluded);
        let passed = now - self.last_look;
        let credit = self.credit_for(passed, &current);
        self.credited += credit;
        let all_asleep = !current.is_empty() && current.iter().all(|thread| thread.state == 'S');
        if all_asleep && current == self.last {
            self.quiescent_for += credit;
        } else {
            self.quiescent_for = Duration::ZERO;
        }
        self.last_look = now;
        self.last = current;
        // Relaxed: only a sum.
        self.excused = Duration::from_nanos(EXCUSED_NS.load(Relaxed));
        self.failure(now - self.started)
    }

    /// The threads as they were at the last sample.
    pub fn last_samples(&self) -> &[Sample] {
        &self.last
    }

    /// How much of the time since the last sample is credited to the threads. If a thread is ready
    /// to run, only as much as the threads have run: for the rest they waited for a CPU, behind the
    /// threads of other processes.
    fn credit_for(&self, passed: Duration, current: &[Sample]) -> Duration {
        let credit = if current.iter().any(|thread| thread.state == 'R') {
            let ran = current.iter().map(|thread| self.ran(thread));
            ran.max().unwrap_or_default()
        } else {
            passed
        };
        credit.min(passed).min(MAX_CREDIT)
    }

    /// How long the thread has run since the last sample.
    fn ran(&self, thread: &Sample) -> Duration {
        let before = self.last.iter().find(|before| before.id == thread.id);
        let before = before.map_or(0, |before| before.cpu_ns);
        Duration::from_nanos(thread.cpu_ns.saturating_sub(before))
    }

    fn failure(&self, elapsed: Duration) -> Option<Failure> {
        let cpu = Duration::from_nanos(self.last.iter().map(|thread| thread.cpu_ns).sum());
        let cpu = cpu.saturating_sub(self.excused);
        let seen = if self.quiescent_for >= HANGS_AFTER {
            format!(
                "{HANGS}: every thread sleeps, and nothing is left to wake one. A wake-up was lost, \
                 or never sent, or a thread is stuck in a lock inside `wake`"
            )
        } else if cpu >= self.limits.cpu {
            format!(
                "{SPINS}: {:.0} s of CPU time were used, by a loop that makes no progress",
                cpu.as_secs_f64()
            )
        } else if self.credited >= self.limits.wall {
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
        Some(Failure {
            seen,
            threads: self.last.iter().map(Sample::describe).collect(),
            execution: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn patience_is_about_what_a_machine_takes() {
        let more = Limits::CHECK.times(10.0);
        assert_eq!(more.cpu, 40 * SECOND);
        assert_eq!(more.wall, 150 * SECOND);
        assert_eq!(more.at_most, 1200 * SECOND);
        let less = Limits::CHECK.times(0.25);
        assert_eq!(less.cpu, SECOND);
        assert_eq!((less.wall, less.at_most), (15 * SECOND, 120 * SECOND));
    }

    fn thread(state: char, cpu_ms: u64) -> Sample {
        Sample {
            id: 7,
            name: "check".into(),
            state,
            cpu_ns: cpu_ms * 1_000_000,
        }
    }

    /// What is credited of the time between two samples of a thread.
    fn credit(before: Sample, passed: Duration, now: Sample) -> Duration {
        let mut watchdog = Watchdog::new(Limits::CHECK);
        watchdog.last = vec![before];
        watchdog.credit_for(passed, &[now])
    }

    #[test]
    fn time_counts_for_who_sleeps_and_for_who_runs() {
        let asleep = credit(thread('S', 3), INTERVAL, thread('S', 3));
        assert_eq!(asleep, INTERVAL, "all sleep");
        let running = credit(thread('R', 3), INTERVAL, thread('R', 28));
        assert_eq!(running, INTERVAL, "running");
    }

    #[test]
    fn time_in_line_does_not_count() {
        let in_line = credit(thread('S', 3), INTERVAL, thread('R', 3));
        assert_eq!(in_line, Duration::ZERO, "no turn");
        let one_turn = credit(thread('R', 3), INTERVAL, thread('R', 4));
        assert_eq!(one_turn, Duration::from_millis(1), "one short turn");
    }

    #[test]
    fn a_late_look_counts_for_little() {
        let late = credit(thread('S', 3), 20 * SECOND, thread('S', 3));
        assert_eq!(late, MAX_CREDIT);
    }

    #[test]
    fn what_is_excused_does_not_count_as_spinning() {
        let mut watchdog = Watchdog::new(Limits::CHECK);
        watchdog.last = vec![thread('R', 6_000)];
        watchdog.excused = 3 * SECOND;
        assert!(watchdog.failure(7 * SECOND).is_none());
        watchdog.last = vec![thread('R', 7_000)];
        let seen = watchdog.failure(8 * SECOND).expect("it must end").seen;
        assert!(seen.starts_with(SPINS), "{seen}");
    }

    #[test]
    fn a_check_that_got_no_cpu_is_reported_as_such() {
        let mut watchdog = Watchdog::new(Limits::CHECK);
        watchdog.credited = 14 * SECOND;
        assert!(watchdog.failure(119 * SECOND).is_none());
        let seen = watchdog.failure(120 * SECOND).expect("it must end").seen;
        assert!(seen.starts_with(BUSY), "{seen}");
        watchdog.credited = 15 * SECOND;
        let seen = watchdog.failure(120 * SECOND).expect("it must end").seen;
        assert!(seen.starts_with("it was not done"), "{seen}");
    }
}
