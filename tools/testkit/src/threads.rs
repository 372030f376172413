//! What the operating system says about this process's threads. Linux only: elsewhere there are no
//! samples, and code that needs them says so.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// One thread, as the operating system sees it now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Its number in the operating system.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// `S` sleeping, `R` running or ready to run, `D` waiting for a device.
    pub state: char,
    /// The CPU time it has used, in nanoseconds.
    pub cpu_ns: u64,
}

impl Sample {
    /// Describes the thread in a few words, such as
    /// `waker  sleeping, 0.1 ms of CPU time`.
    pub fn describe(&self) -> String {
        let doing = match self.state {
            'S' => "sleeping",
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
    // A thread without a name of its own has the name of the thread that started it, which is
    // confusing in a report.
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

/// How many threads this process has. `None` if the operating system doesn't report it.
pub fn thread_count() -> Option<usize> {
    Some(fs::read_dir("/proc/self/task").ok()?.count())
}

/// The operating system's number of this thread.
pub(crate) fn this_thread() -> Option<u32> {
    id_of(&fs::read_link("/proc/thread-self").ok()?)
}

/// Samples the thread whose folder in `/proc` this is.
pub(crate) fn sample(task: &Path) -> Option<Sample> {
    let stat = fs::read_to_string(task.join("stat")).ok()?;
    // The name is in parentheses and may itself contain any character.
    let (head, tail) = stat.rsplit_once(") ")?;
    Some(Sample {
        id: id_of(task)?,
        name: head.split_once('(')?.1.to_owned(),
        state: tail.chars().next()?,
        cpu_ns: cpu_ns(task)?,
    })
}

fn id_of(task: &Path) -> Option<u32> {
    task.file_name()?.to_str()?.parse().ok()
}

/// The CPU time that the thread has used, in nanoseconds.
pub(crate) fn cpu_ns(task: &Path) -> Option<u64> {
    let schedstat = fs::read_to_string(task.join("schedstat")).ok()?;
    schedstat.split_whitespace().next()?.parse().ok()
}

/// For how long the threads of another process have stood in line for a CPU, all of them together.
/// `None` if the operating system doesn't report it.
pub(crate) fn time_in_line(process: u32) -> Option<Duration> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let times = tasks.filter_map(|task| in_line_ns(&task.ok()?.path()));
    times.map(Duration::from_nanos).reduce(|all, one| all + one)
}

/// A number that changes whenever a thread of another process runs or stands in line for a CPU.
/// `None` if the operating system doesn't report it.
pub(crate) fn activity(process: u32) -> Option<u64> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let times = tasks.filter_map(|task| {
        let task = task.ok()?.path();
        Some(cpu_ns(&task)?.wrapping_add(in_line_ns(&task)?))
    });
    times.reduce(u64::wrapping_add)
}

fn in_line_ns(task: &Path) -> Option<u64> {
    let schedstat = fs::read_to_string(task.join("schedstat")).ok()?;
    schedstat.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn this_thread_counts() {
        assert!(thread_count().is_some_and(|count| count > 0));
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
