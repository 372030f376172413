//! Containment on Linux: limits of the kernel, and a subreaper.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use super::{Limits, limits};

pub use super::reaper::spawn_reaper;

/// How often the processes are counted when nothing suggests that there are
/// more than before.
const CENSUS_EVERY: Duration = Duration::from_millis(250);

/// So many new threads on the whole machine call for a count at once.
const SUSPICIOUS_GROWTH: u64 = 32;

/// How often to look for processes born while others were being stopped.
const STOP_ROUNDS: usize = 20;

/// Makes every orphan among the descendants a child of this process.
pub fn adopt_orphans() -> io::Result<()> {
    // SAFETY: this option of `prctl` takes an integer and touches no memory.
    match unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Applies the limits to the program that `command` is about to start.
pub fn confine(command: &mut Command, limits: &Limits) {
    // malloc reserves 64 MiB of address space for each thread's arena.
    command.env("MALLOC_ARENA_MAX", "2").process_group(0);
    let limits = limits::of(limits);
    let before_exec = move || {
        limits::apply(&limits)?;
        die_with_parent()
    };
    // SAFETY: the closure runs between fork and exec, and there it only makes
    // system calls and allocates nothing.
    unsafe { command.pre_exec(before_exec) };
}

/// Has the kernel kill the calling process when its parent ends.
fn die_with_parent() -> io::Result<()> {
    // SAFETY: this option of `prctl` takes an integer and touches no memory.
    match unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The program and everything it started.
pub struct Family {
    group: libc::pid_t,
}

/// One process, as `/proc/PID/stat` has it.
struct Process {
    pid: libc::pid_t,
    parent: libc::pid_t,
    memory_bytes: u64,
}

/// What the family uses.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Its living processes.
    pub processes: usize,
    /// Their resident memory.
    pub memory_bytes: u64,
}

/// Counts the family now and then.
pub struct Census {
    last: Instant,
    threads_then: u64,
}

impl Family {
    /// The family of `child`, which leads its own process group.
    pub fn new(child: &Child) -> Self {
        let group = libc::pid_t::try_from(child.id()).expect("a process id fits");
        // If memory runs out, the kernel should end the program and no other.
        let _best_effort = fs::write(format!("/proc/{group}/oom_score_adj"), "1000");
        Self { group }
    }

    /// Starts to count.
    pub fn census(&self) -> Census {
        Census {
            last: Instant::now(),
            threads_then: threads_on_this_machine(),
        }
    }

    /// Kills every descendant that is alive now. Must be repeated until no
    /// child is left, since orphans arrive as their parents die.
    pub fn kill(&self) {
        // The kernel signals a group at once: nothing in it can fork in between.
        send_signal(-self.group, libc::SIGKILL);
        // The rest is stopped before it is killed, since a stopped process does
        // not fork. Each round finds only what was born during the last one.
        let mut stopped = HashSet::new();
        for _round in 0..STOP_ROUNDS {
            let found = descendants();
            let stopped_before = stopped.len();
            for process in found {
                if stopped.insert(process.pid) {
                    send_signal(process.pid, libc::SIGSTOP);
                }
            }
            if stopped.len() == stopped_before {
                break;
            }
        }
        for pid in stopped {
            send_signal(pid, libc::SIGKILL);
        }
    }
}

impl Census {
    /// Returns what the family uses, if it is time to count again.
    pub fn take_if_due(&mut self) -> Option<Usage> {
        let threads = threads_on_this_machine();
        let grown = threads > self.threads_then + SUSPICIOUS_GROWTH;
        if !grown && self.last.elapsed() < CENSUS_EVERY {
            return None;
        }
        self.last = Instant::now();
        self.threads_then = threads;
        let found = descendants();
        Some(Usage {
            processes: found.len(),
            memory_bytes: found.iter().map(|process| process.memory_bytes).sum(),
        })
    }
}

fn send_signal(target: libc::pid_t, signal: libc::c_int) {
    // SAFETY: `kill` takes integers and touches no memory. The target is a
    // descendant, or a group that one leads; a child keeps its number until the
    // reaper has waited for it, and an error (it is gone) changes nothing.
    unsafe { libc::kill(target, signal) };
}

/// The living descendants of this process.
fn descendants() -> Vec<Process> {
    let mut children: HashMap<libc::pid_t, Vec<Process>> = HashMap::new();
    for process in all_processes() {
        children.entry(process.parent).or_default().push(process);
    }
    let this = libc::pid_t::try_from(std::process::id()).expect("a process id fits");
    let mut found = children.remove(&this).unwrap_or_default();
    let mut next = 0;
    while let Some(parent) = found.get(next) {
        found.extend(children.remove(&parent.pid).unwrap_or_default());
        next += 1;
    }
    found
}

fn all_processes() -> impl Iterator<Item = Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        parse_stat(pid, &stat)
    })
}

/// Returns `None` for a zombie: it is dead, and only waits to be waited for.
fn parse_stat(pid: libc::pid_t, stat: &str) -> Option<Process> {
    // The name, in parentheses, may contain spaces and parentheses itself.
    let (_, after_name) = stat.rsplit_once(") ")?;
    let mut fields = after_name.split(' ');
    if fields.next()? == "Z" {
        return None;
    }
    let parent = fields.next()?.parse().ok()?;
    // Field 24 of proc(5); the parent was field 4.
    let pages: u64 = fields.nth(19)?.parse().ok()?;
    Some(Process {
        pid,
        parent,
        memory_bytes: pages * page_size(),
    })
}

fn page_size() -> u64 {
    // SAFETY: `sysconf` takes an integer and touches no memory of ours.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(size).unwrap_or(4096)
}

/// Reads the number of threads, which `/proc/loadavg` has as `1/234`: one
/// small file, where counting means to read one for each process.
fn threads_on_this_machine() -> u64 {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let threads = load.split(' ').nth(3).and_then(|of| of.split_once('/'));
    threads.and_then(|(_, all)| all.parse().ok()).unwrap_or(0)
}
