//! What one thread costs, and whether it sleeps. Linux only: other operating systems don't report
//! it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::threads::{cpu_ns, sample};

/// How often [`idle_cost`] samples, and for how many windows at most.
const LOOK: Duration = Duration::from_millis(5);
const MAX_WINDOWS: u32 = 20;

/// Points at one thread of this process, to measure what it costs.
#[derive(Clone, Debug)]
pub struct ThreadProbe(PathBuf);

/// What a thread has cost so far, or over some span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// CPU time used.
    pub cpu: Duration,
    /// How often it went to sleep by itself (voluntary context switches).
    pub sleeps: u64,
}

impl ThreadProbe {
    /// Points at the calling thread.
    pub fn here() -> Self {
        let task = fs::read_link("/proc/thread-self").unwrap_or_default();
        Self(Path::new("/proc").join(task))
    }

    /// What the thread has cost since it began. `None` if the operating system doesn't report it,
    /// or if the thread has ended.
    pub fn cost(&self) -> Option<Cost> {
        Some(Cost {
            cpu: Duration::from_nanos(cpu_ns(&self.0)?),
            sleeps: voluntary_switches(&self.0)?,
        })
    }

    /// Waits until the thread sleeps, so that what comes next finds it sleeping. If the operating
    /// system doesn't report it, it waits a while: a check may then pass that would have found a
    /// bug, but never the reverse.
    pub fn wait_until_asleep(&self) {
        let pause = Duration::from_millis(1);
        for _ in 0..100 {
            std::thread::sleep(pause);
            let state = sample(&self.0).map(|sample| sample.state);
            if matches!(state, None | Some('S')) {
                return;
            }
        }
    }

    /// Returns `true` if the thread sleeps. `None` if the operating system doesn't report it.
    pub fn is_asleep(&self) -> Option<bool> {
        Some(sample(&self.0)?.state == 'S')
    }

    /// Returns `true` if the thread sleeps until some time has passed, in a timeout or in a plain
    /// sleep, and `false` if it sleeps until it is woken or doesn't sleep. `None` if the operating
    /// system doesn't report it.
    pub fn sleeps_by_the_clock(&self) -> Option<bool> {
        let call = fs::read_to_string(self.0.join("syscall")).ok()?;
        // The number of the system call, and its arguments in hexadecimal; or `running`.
        let mut words = call.split_whitespace();
        let Ok(number) = words.next()?.parse::<u32>() else {
            return Some(false);
        };
        let (futex, sleeps) = match std::env::consts::ARCH {
            "x86_64" => (202, [35, 230]),
            "aarch64" => (98, [101, 115]),
            _ => return None,
        };
        let time_out = words.nth(3)?;
        Some(sleeps.contains(&number) || number == futex && time_out != "0x0")
    }
}

/// Lets `window` pass and returns what the thread at `probe` cost meanwhile. `None` if the
/// operating system doesn't report it.
///
/// Time that the thread spent ready but waiting for a CPU doesn't count: on a busy machine a thread
/// that spins gets little CPU time, and must still be distinguished from one that sleeps.
///
/// For scale, over 200 ms: a thread that sleeps costs 0.1 ms and one sleep, one that polls every
/// millisecond 2 ms and 180 sleeps, and one that spins 185 ms (measured on a 2-core x86-64
/// machine).
pub fn idle_cost(probe: &ThreadProbe, window: Duration) -> Option<Cost> {
    let before = probe.cost()?;
    let start = Instant::now();
    let mut passed = Duration::ZERO;
    let mut last = (start, before.cpu);
    while passed < window && start.elapsed() < window * MAX_WINDOWS {
        std::thread::sleep(LOOK.min(window - passed));
        let sample = sample(&probe.0)?;
        let now = (Instant::now(), Duration::from_nanos(sample.cpu_ns));
        passed += match sample.state {
            'R' => now.1.saturating_sub(last.1),
            _ => now.0 - last.0,
        };
        last = now;
    }
    let after = probe.cost()?;
    Some(Cost {
        cpu: after.cpu - before.cpu,
        sleeps: after.sleeps - before.sleeps,
    })
}

fn voluntary_switches(task: &Path) -> Option<u64> {
    let status = fs::read_to_string(task.join("status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
    line.trim().parse().ok()
}

/// A [`ThreadProbe`] whose files are open: asking takes one system call each, and neither allocates
/// nor locks, so a signal handler may ask.
#[derive(Debug)]
pub(crate) struct OpenProbe(OnceLock<Option<(fs::File, fs::File)>>);

impl OpenProbe {
    /// Makes a probe that points nowhere yet.
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Points it at the calling thread, once.
    pub(crate) fn open_here(&self) {
        self.0.get_or_init(|| {
            let ThreadProbe(task) = ThreadProbe::here();
            let stat = fs::File::open(task.join("stat")).ok()?;
            Some((stat, fs::File::open(task.join("schedstat")).ok()?))
        });
    }

    /// Whether the thread sleeps.
    pub(crate) fn is_asleep(&self) -> bool {
        let Some(Some((stat, _))) = self.0.get() else {
            return false;
        };
        let mut text = [0; 512];
        let length = read_start(stat, &mut text);
        let name_ends = text[..length].iter().rposition(|&byte| byte == b')');
        name_ends.and_then(|end| text.get(end + 2)) == Some(&b'S')
    }

    /// The CPU time that the thread has used.
    pub(crate) fn cpu_ns(&self) -> Option<u64> {
        let (_, schedstat) = self.0.get()?.as_ref()?;
        let mut text = [0; 64];
        let length = read_start(schedstat, &mut text);
        let digits = text[..length]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        Some(digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
    }
}

/// Reads the start of a file, and returns how much was read.
#[cfg(unix)]
fn read_start(file: &fs::File, buffer: &mut [u8]) -> usize {
    use std::os::unix::fs::FileExt;
    file.read_at(buffer, 0).unwrap_or(0)
}

#[cfg(not(unix))]
fn read_start(_file: &fs::File, _buffer: &mut [u8]) -> usize {
    0
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::Gate;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    use std::sync::mpsc;

    const WINDOW: Duration = Duration::from_millis(50);

    #[test]
    fn a_sleeping_thread_costs_next_to_nothing() {
        let gate = Arc::new(Gate::new());
        let (sender, receiver) = mpsc::channel();
        let sleeper = std::thread::spawn({
            let gate = gate.clone();
            move || {
                sender.send(ThreadProbe::here()).expect("the test listens");
                gate.wait();
            }
        });
        let probe = receiver.recv().expect("the sleeper tells");
        let cost = idle_cost(&probe, WINDOW).expect("Linux reports what a thread costs");
        gate.open();
        sleeper.join().expect("the sleeper ends");
        assert!(
            cost.cpu < WINDOW / 4 && cost.sleeps < 10,
            "while it slept, it cost {cost:?}"
        );
    }

    #[test]
    fn a_spinning_thread_costs_the_window_also_on_a_busy_machine() {
        const SPINNERS: usize = 6;
        let stop = AtomicBool::new(false);
        let cost = std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            for _ in 0..SPINNERS {
                let (sender, stop) = (sender.clone(), &stop);
                scope.spawn(move || {
                    sender.send(ThreadProbe::here()).expect("the test listens");
                    while !stop.load(SeqCst) {}
                });
            }
            let probes: Vec<_> = receiver.into_iter().take(SPINNERS).collect();
            let cost = idle_cost(&probes[0], WINDOW);
            stop.store(true, SeqCst);
            cost.expect("Linux reports what a thread costs")
        });
        // If dozens of threads want the CPU, it may get little of it before the sample ends. One
        // that sleeps costs a tenth of this at most.
        assert!(cost.cpu > WINDOW / 25, "spinning, it cost {cost:?}");
    }

    #[test]
    fn a_sleep_by_the_clock_is_distinguished_from_one_without() {
        let gate = Arc::new(Gate::new());
        let probe_of = |sleep: fn(&Gate)| {
            let (sender, receiver) = mpsc::channel();
            let gate = gate.clone();
            std::thread::spawn(move || {
                sender.send(ThreadProbe::here()).expect("the test listens");
                sleep(&gate);
            });
            let probe = receiver.recv().expect("the sleeper tells");
            while probe.is_asleep() == Some(false) {
                std::thread::sleep(Duration::from_millis(1));
            }
            probe
        };
        let by_the_clock = [
            probe_of(|gate| gate.wait()).sleeps_by_the_clock(),
            probe_of(|_| std::thread::park()).sleeps_by_the_clock(),
            probe_of(|_| std::thread::park_timeout(Duration::from_secs(600))).sleeps_by_the_clock(),
            probe_of(|_| std::thread::sleep(Duration::from_secs(600))).sleeps_by_the_clock(),
        ];
        gate.open();
        if by_the_clock[0].is_some() {
            assert_eq!(by_the_clock, [false, false, true, true].map(Some));
        }
    }
}
