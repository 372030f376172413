//! What the server and the launcher say to each other: the server one [`Order`],
//! and the launcher [`Report`]s until the program has ended.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::signals;

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
    /// The program couldn't be started.
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

/// How a sandboxed program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// What ended it.
    pub cause: Cause,
    /// How long it ran.
    pub time: Duration,
}

/// What ended a sandboxed program.
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
