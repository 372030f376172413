//! Containment on Linux: limits of the kernel, a door, and a subreaper.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use super::doorkeeper::Door;
use super::limits;
use super::linux_processes::descendants;
use super::news::News;
use super::protocol::Limits;
use super::streams::Streams;

pub use super::limits::leave_terminal;
pub use super::reaper::spawn_reaper;

/// How often the processes and their memory are counted.
const CENSUS_EVERY: Duration = Duration::from_millis(200);

/// How often to look for processes born while others were being stopped.
const STOP_ROUNDS: usize = 20;

/// What must be in place before the program starts.
pub struct Fence {
    // Without a door there is still the census.
    door: Option<Arc<Door>>,
}

impl Fence {
    /// Makes every orphan among the descendants a child of this process, and
    /// puts a doorkeeper before every new one, who also keeps the streams in order.
    ///
    /// # Errors
    ///
    /// When orphans can't be adopted.
    pub fn raise(
        limits: &Limits,
        news: &SyncSender<News>,
        streams: &Arc<Streams>,
    ) -> io::Result<Self> {
        // SAFETY: this option of `prctl` takes integers and touches no memory.
        if unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let door = Door::install(limits.processes, news.clone(), streams.clone()).ok();
        Ok(Self { door })
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
    fence: Fence,
}

/// What the family uses.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Its living processes.
    pub processes: usize,
    /// Their threads.
    pub threads: usize,
    /// Their resident memory.
    pub memory_bytes: u64,
}

/// Counts the family now and then.
pub struct Census {
    last: Instant,
}

impl Family {
    /// The family of `child`, which leads its own process group.
    pub fn new(child: &Child, fence: Fence) -> Self {
        let group = libc::pid_t::try_from(child.id()).expect("a process id fits");
        // If memory runs out, the kernel should end the program and no other.
        let _best_effort = fs::write(format!("/proc/{group}/oom_score_adj"), "1000");
        Self { group, fence }
    }

    /// Starts to count.
    pub fn census(&self) -> Census {
        Census {
            last: Instant::now(),
        }
    }

    /// Kills every descendant that is alive now. Must be repeated until no
    /// child is left, since orphans arrive as their parents die.
    pub fn kill(&self) {
        if let Some(door) = &self.fence.door {
            door.close();
        }
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
        if self.last.elapsed() < CENSUS_EVERY {
            return None;
        }
        self.last = Instant::now();
        let found = descendants();
        Some(Usage {
            processes: found.len(),
            threads: found.iter().map(|process| process.thread_count).sum(),
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
