//! What the operating system says about this process's threads. Linux only:
//! elsewhere there are no samples, and what needs them says so.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// One thread, as the operating system sees it now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Its number in the operating system.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// `S` asleep, `R` running or ready to run, `D` waiting for a device.
    pub state: char,
    /// The CPU time it has used, in nanoseconds.
    pub cpu_ns: u64,
}

impl Sample {
    /// Describes the thread in a few words, such as
    /// `waker  asleep, 0.1 ms of CPU time`.
    pub fn describe(&self) -> String {
        let doing = match self.state {
            'S' => "asleep",
            'R' => "running",
            'D' => "waiting for a device",
            _ => "ending",
        };
        let cpu_ms = Duration::from_nanos(self.cpu_ns).as_secs_f64() * 1e3;
        format!("{}: {doing}, {cpu_ms:.1} ms of CPU time", self.name)
    }
}

/// Samples the threads of this process other than those in `except`. Empty
/// where the operating system has no `/proc`.
pub(crate) fn samples(except: &[u32]) -> Vec<Sample> {
    let Ok(entries) = fs::read_dir("/proc/self/task") else {
        return Vec::new();
    };
    let mut samples: Vec<Sample> = entries
        .filter_map(|entry| sample(&entry.ok()?.path()))
        .filter(|sample| !except.contains(&sample.id))
        .collect();
    samples.sort_by_key(|sample| sample.id);
    // A thread without a name of its own bears its starter's, which is confusing in a report.
    for index in 1..samples.len() {
        let (before, here) = samples.split_at_mut(index);
        let name = &mut here[0].name;
        let namesakes = before
            .iter()
            .filter(|sample| sample.name.starts_with(name.as_str()))
            .count();
        if namesakes > 0 {
            name.push_str(&format!(" ({})", namesakes + 1));
        }
    }
    samples
}

/// How many threads this process has. `None` where the operating system does
/// not tell.
pub fn thread_count() -> Option<usize> {
    Some(fs::read_dir("/proc/self/task").ok()?.count())
}

/// The operating system's number of this thread.
pub(crate) fn this_thread() -> Option<u32> {
    number_of(&fs::read_link("/proc/thread-self").ok()?)
}

fn sample(task: &Path) -> Option<Sample> {
    let stat = fs::read_to_string(task.join("stat")).ok()?;
    // The name stands in parentheses and may itself hold any character.
    let (head, tail) = stat.rsplit_once(") ")?;
    Some(Sample {
        id: number_of(task)?,
        name: head.split_once('(')?.1.to_owned(),
        state: tail.chars().next()?,
        cpu_ns: cpu_ns(task)?,
    })
}

fn number_of(task: &Path) -> Option<u32> {
    task.file_name()?.to_str()?.parse().ok()
}

fn cpu_ns(task: &Path) -> Option<u64> {
    let schedstat = fs::read_to_string(task.join("schedstat")).ok()?;
    schedstat.split_whitespace().next()?.parse().ok()
}

fn voluntary_switches(task: &Path) -> Option<u64> {
    let status = fs::read_to_string(task.join("status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
    line.trim().parse().ok()
}

/// Points at one thread of this process, to ask what it costs.
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

    /// What the thread has cost since it began. `None` where the operating
    /// system does not tell, or when the thread has ended.
    pub fn cost(&self) -> Option<Cost> {
        Some(Cost {
            cpu: Duration::from_nanos(cpu_ns(&self.0)?),
            sleeps: voluntary_switches(&self.0)?,
        })
    }
}

impl ThreadProbe {
    /// Waits until the thread sleeps, so that what comes next finds it
    /// asleep. Where the operating system does not tell, it waits a while:
    /// then a check may pass that would have found a bug, never the reverse.
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
}

impl ThreadProbe {
    /// Returns `true` if the thread sleeps until some time has passed, by a
    /// time-out or by a plain sleep, and `false` if it sleeps until it is
    /// woken or does not sleep. `None` where the operating system does not
    /// tell.
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

/// A [`ThreadProbe`] whose files are open: asking takes one system call each,
/// and neither allocates nor locks, so that the handler of a signal may ask.
#[derive(Debug)]
pub(crate) struct OpenProbe(OnceLock<Option<(fs::File, fs::File)>>);

impl OpenProbe {
    /// Makes a probe that points nowhere yet.
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Points it at the calling thread, once and for all.
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

/// How often [`idle_cost`] looks, and for how many windows at most.
const LOOK: Duration = Duration::from_millis(5);
const MOST_WINDOWS: u32 = 20;

/// Lets `window` pass and returns what the thread at `probe` cost meanwhile.
/// `None` where the operating system does not tell.
///
/// Time for which the thread stood in line for a CPU does not count: on a busy
/// machine one that spins gets little of it, and must be told all the same from
/// one that sleeps.
///
/// For scale, over 200 ms: a thread that sleeps costs 0.1 ms and one sleep,
/// one that polls every millisecond 2 ms and 180 sleeps, one that spins
/// 185 ms (measured on a 2-core x86-64 machine).
pub fn idle_cost(probe: &ThreadProbe, window: Duration) -> Option<Cost> {
    let before = probe.cost()?;
    let start = Instant::now();
    let mut passed = Duration::ZERO;
    let mut last = (start, before.cpu);
    while passed < window && start.elapsed() < window * MOST_WINDOWS {
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

/// Waits for another thread as a lock or a channel does that is built on
/// [`std::thread::park`]: takes the thread's token, and leaves none.
pub fn wait_by_thread_park() {
    let is_open = Arc::new(AtomicBool::new(false));
    let (thread, parked) = (std::thread::current(), ThreadProbe::here());
    let opener = std::thread::spawn({
        let is_open = is_open.clone();
        move || {
            parked.wait_until_asleep();
            is_open.store(true, SeqCst);
            thread.unpark();
        }
    });
    while !is_open.load(SeqCst) {
        std::thread::park();
    }
    opener.join().expect("opening does not panic");
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::Gate;
    use std::sync::mpsc;

    const WINDOW: Duration = Duration::from_millis(50);

    #[test]
    fn a_sleeping_thread_costs_next_to_nothing() {
        let gate = Arc::new(Gate::new());
        let (tell, told) = mpsc::channel();
        let sleeper = std::thread::spawn({
            let gate = gate.clone();
            move || {
                tell.send(ThreadProbe::here()).expect("the test listens");
                gate.wait();
            }
        });
        let probe = told.recv().expect("the sleeper tells");
        let cost = idle_cost(&probe, WINDOW).expect("Linux tells what a thread costs");
        gate.open();
        sleeper.join().expect("the sleeper ends");
        assert!(
            cost.cpu < WINDOW / 4 && cost.sleeps < 10,
            "asleep, it cost {cost:?}"
        );
    }

    #[test]
    fn a_spinning_thread_costs_the_window_also_on_a_busy_machine() {
        const SPINNERS: usize = 6;
        let stop = AtomicBool::new(false);
        let cost = std::thread::scope(|scope| {
            let (tell, told) = mpsc::channel();
            for _ in 0..SPINNERS {
                let (tell, stop) = (tell.clone(), &stop);
                scope.spawn(move || {
                    tell.send(ThreadProbe::here()).expect("the test listens");
                    while !stop.load(SeqCst) {}
                });
            }
            let probes: Vec<_> = told.into_iter().take(SPINNERS).collect();
            let cost = idle_cost(&probes[0], WINDOW);
            stop.store(true, SeqCst);
            cost.expect("Linux tells what a thread costs")
        });
        // Where dozens want the CPU it may not get half of it before the look ends.
        assert!(cost.cpu > WINDOW / 5, "spinning, it cost {cost:?}");
    }

    #[test]
    fn waiting_by_thread_park_uses_up_the_token() {
        std::thread::current().unpark();
        wait_by_thread_park();
        let limit = Duration::from_millis(20);
        let start = Instant::now();
        std::thread::park_timeout(limit);
        assert!(start.elapsed() >= limit, "a token was left");
    }

    #[test]
    fn this_thread_counts() {
        assert!(thread_count().is_some_and(|count| count > 0));
    }

    #[test]
    fn a_sleep_by_the_clock_is_told_from_one_without() {
        let gate = Arc::new(Gate::new());
        let probe_of = |sleep: fn(&Gate)| {
            let (tell, told) = mpsc::channel();
            let gate = gate.clone();
            std::thread::spawn(move || {
                tell.send(ThreadProbe::here()).expect("the test listens");
                sleep(&gate);
            });
            let probe = told.recv().expect("the sleeper tells");
            probe.wait_until_asleep();
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

    #[test]
    fn a_spinning_thread_is_seen_running() {
        let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let spinner = std::thread::Builder::new().name("spinner".into()).spawn({
            let stop = stop.clone();
            move || while !stop.load(std::sync::atomic::Ordering::Relaxed) {}
        });
        let spinner = spinner.expect("a thread can be started");
        let of_spinner = || {
            samples(&[])
                .into_iter()
                .find(|sample| sample.name == "spinner")
        };
        let first = loop {
            if let Some(sample) = of_spinner() {
                break sample;
            }
        };
        let later = loop {
            let sample = of_spinner().expect("it still spins");
            if sample.cpu_ns > first.cpu_ns + 20_000_000 {
                break sample;
            }
        };
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        spinner.join().expect("the spinner ends");
        assert!(
            later.describe().starts_with("spinner: running"),
            "{}",
            later.describe()
        );
    }
}
