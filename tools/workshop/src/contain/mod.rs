//! Runs a program that may misbehave, and ends everything it started.
//!
//! The server never starts such a program itself. It starts the *launcher*, this
//! same executable with a hidden argument, and tells it what to run. On Linux the
//! launcher adopts every orphan among its descendants, so nothing that the program
//! starts can get away: not by a new session, not by forking twice, not by
//! ignoring `SIGTERM`. The launcher ends them all when the program ends, when a
//! limit is reached, and when the pipe from the server closes, which happens even
//! if the server is killed.

#[cfg(target_os = "linux")]
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    path = "open_door.rs"
)]
mod doorkeeper;
mod launcher;
#[cfg(unix)]
mod limits;
#[cfg(target_os = "linux")]
mod linux_processes;
mod pieces;
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(all(unix, not(target_os = "linux")), path = "unix.rs")]
#[cfg_attr(not(unix), path = "portable.rs")]
mod platform;
#[cfg(unix)]
mod reaper;
mod signals;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

pub use launcher::launch;

/// The hidden argument that turns this executable into the launcher.
pub const LAUNCHER: &str = "__launch";

const MIB: u64 = 1 << 20;

/// What to run, and within which limits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// The executable.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its current folder.
    pub folder: PathBuf,
    /// Whether it gets the launcher's environment, or only `variables`.
    pub inherit_environment: bool,
    /// Variables to set.
    pub variables: Vec<(String, String)>,
    /// What it may use.
    pub limits: Limits,
}

/// What a program and all it starts may use.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// Time from start to end.
    pub wall: Duration,
    /// Bytes written to standard output and standard error together.
    pub output_bytes: u64,
    /// Whether what it writes beyond that is left out, and it goes on.
    #[serde(default)]
    pub cuts_output: bool,
    /// Address space of each process, and memory of all of them together.
    pub memory_bytes: u64,
    /// Size of each file it writes.
    pub file_bytes: u64,
    /// Processes alive at once.
    pub processes: usize,
    /// Threads alive at once, of all processes together.
    pub threads: usize,
    /// Room on disk that its folder takes, where the folder is its own.
    pub disk_bytes: Option<u64>,
}

impl Limits {
    /// The limits of a snippet. The address space is far more than a program
    /// of the book needs, since each thread reserves some.
    pub fn snippet(wall: Duration) -> Self {
        Self {
            wall,
            output_bytes: MIB / 4,
            cuts_output: false,
            memory_bytes: 4096 * MIB,
            file_bytes: 64 * MIB,
            processes: 64,
            threads: 4096,
            disk_bytes: Some(256 * MIB),
        }
    }

    /// The limits of a compiler: a hostile program can keep one busy without end.
    /// But a compiler may have ten thousand warnings, and a program all the same.
    pub fn compiler(wall: Duration) -> Self {
        Self {
            wall,
            output_bytes: 64 * MIB,
            cuts_output: true,
            memory_bytes: 4096 * MIB,
            file_bytes: 1024 * MIB,
            processes: 64,
            threads: 4096,
            disk_bytes: None,
        }
    }
}

/// What the launcher reports, one JSON object a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Report {
    /// The program wrote this.
    Output(Stream, String),
    /// The program and everything it started has ended.
    Ended(Ended),
    /// The program could not be started.
    Refused(String),
}

/// One of the two streams of a program's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// How a contained program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// What ended it.
    pub cause: Cause,
    /// How long it ran.
    pub time: Duration,
}

/// What ended a contained program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// It exited with this status.
    Exited(i32),
    /// This signal ended it.
    Signal(i32),
    /// It ran longer than it may.
    Timeout,
    /// It wrote more than it may.
    OutputLimit,
    /// It had more processes than it may.
    ProcessLimit,
    /// It had more threads than it may.
    ThreadLimit,
    /// Its processes together used more memory than they may.
    MemoryLimit,
    /// Its folder took more room on disk than it may.
    DiskLimit,
    /// The one who asked for it no longer wants it.
    Cancelled,
}

impl fmt::Display for Cause {
    /// Says it as it's read after the program's name: `ran too long`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "ended with status {code}"),
            Self::Signal(signal) => write!(f, "was ended by {}", signals::spoken(*signal)),
            Self::Timeout => write!(f, "ran too long"),
            Self::OutputLimit => write!(f, "printed too much"),
            Self::ProcessLimit => write!(f, "had too many processes"),
            Self::ThreadLimit => write!(f, "had too many threads"),
            Self::MemoryLimit => write!(f, "used too much memory"),
            Self::DiskLimit => write!(f, "wrote too many or too large files"),
            Self::Cancelled => write!(f, "was stopped"),
        }
    }
}

/// Runs the program to its end, and hands each piece of output to `on_output`.
/// When `cancelled` completes, or this future is dropped, the program and
/// everything it started is ended at once.
///
/// # Errors
///
/// When the program cannot be started, or the launcher itself is killed.
pub async fn run(
    order: &Order,
    mut on_output: impl FnMut(Stream, String),
    cancelled: impl Future<Output = ()>,
) -> io::Result<Ended> {
    let mut launcher = start_launcher()?;
    let mut lifeline = launcher.stdin.take();
    let reports = launcher.stdout.take().expect("the output is piped");
    if let Some(pipe) = &mut lifeline {
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        pipe.write_all(&line).await?;
    }

    let mut reports = BufReader::new(reports).lines();
    let mut cancelled = std::pin::pin!(cancelled);
    let mut result = Err(io::Error::other("the launcher was killed"));
    loop {
        tokio::select! {
            line = reports.next_line() => match line? {
                Some(line) => match serde_json::from_str(&line)? {
                    Report::Output(stream, text) => on_output(stream, text),
                    Report::Ended(ended) => result = Ok(ended),
                    Report::Refused(error) => result = Err(io::Error::other(error)),
                },
                None => break,
            },
            () = &mut cancelled, if lifeline.is_some() => drop(lifeline.take()),
        }
    }
    drop(lifeline);
    launcher.wait().await?;
    result
}

fn start_launcher() -> io::Result<Child> {
    let mut command = Command::new(own_executable()?);
    command
        .arg(LAUNCHER)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command.spawn()
}

/// The path of this executable, which works on Linux even after cargo has
/// replaced the file by a newer build.
fn own_executable() -> io::Result<PathBuf> {
    let link = Path::new("/proc/self/exe");
    if cfg!(target_os = "linux") && link.exists() {
        return Ok(link.into());
    }
    std::env::current_exe()
}
