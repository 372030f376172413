//! Containment on other Unix systems: a process group. A descendant that leaves
//! the group escapes, since nothing adopts it.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use super::limits;
use super::news::News;
use super::protocol::Limits;
use super::streams::Streams;

pub use super::limits::leave_terminal;
pub use super::reaper::spawn_reaper;

/// Nothing can be put in place here: orphans go to the system's first process.
pub struct Fence;

impl Fence {
    /// Does nothing.
    ///
    /// # Errors
    ///
    /// None.
    pub fn raise(
        _limits: &Limits,
        _news: &SyncSender<News>,
        _streams: &Arc<Streams>,
    ) -> io::Result<Self> {
        Ok(Self)
    }
}

/// Applies the limits to the program that `command` is about to start.
pub fn confine(command: &mut Command, limits: &Limits) {
    command.process_group(0);
    let limits = limits::of(limits);
    // SAFETY: the closure runs between fork and exec, and there it only makes
    // system calls and allocates nothing.
    unsafe { command.pre_exec(move || limits::apply(&limits)) };
}

/// The program's process group.
pub struct Family {
    group: libc::pid_t,
}

/// What the family uses.
pub struct Usage {
    /// Its living processes.
    pub processes: usize,
    /// Their threads.
    pub threads: usize,
    /// Their resident memory.
    pub memory_bytes: u64,
}

/// Nothing is counted here.
pub struct Census;

impl Family {
    /// The family of `child`, which leads its own process group.
    pub fn new(child: &Child, _fence: Fence) -> Self {
        let group = libc::pid_t::try_from(child.id()).expect("a process id fits");
        Self { group }
    }

    /// Starts to count.
    pub fn census(&self) -> Census {
        Census
    }

    /// Kills every process of the group.
    pub fn kill(&self) {
        // SAFETY: `kill` takes integers and touches no memory; the group is
        // that of our own child.
        unsafe { libc::kill(-self.group, libc::SIGKILL) };
    }
}

impl Census {
    /// Returns `None`.
    pub fn take_if_due(&mut self) -> Option<Usage> {
        None
    }
}
