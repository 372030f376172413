//! Containment where there is no process group: on Windows `taskkill` ends the
//! tree of processes. Memory and file size aren't limited.

use std::io;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread;

use super::news::News;
use super::protocol::{Cause, Limits};
use super::streams::Streams;

/// Nothing can be put in place here.
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

/// Does nothing.
pub fn leave_terminal() {}

/// Keeps the variables without which no program starts.
pub fn confine(command: &mut Command, _limits: &Limits) {
    for name in ["SystemRoot", "PATH"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
}

/// The program and its children.
pub struct Family {
    root: u32,
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
    /// The family of `child`.
    pub fn new(child: &Child, _fence: Fence) -> Self {
        Self { root: child.id() }
    }

    /// Starts to count.
    pub fn census(&self) -> Census {
        Census
    }

    /// Kills the tree of processes.
    pub fn kill(&self) {
        // An error means that it is gone already.
        let _gone = Command::new("taskkill")
            .args(["/T", "/F", "/PID", &self.root.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
}

impl Census {
    /// Returns `None`.
    pub fn take_if_due(&mut self) -> Option<Usage> {
        None
    }
}

/// Starts the thread that waits for `child`.
pub fn spawn_reaper(mut child: Child, news: SyncSender<News>) {
    thread::spawn(move || {
        let code = child.wait().ok().and_then(|status| status.code());
        let _over = news.send(News::Ended(Cause::Exited(code.unwrap_or(-1))));
        let _over = news.send(News::Childless);
    });
}
