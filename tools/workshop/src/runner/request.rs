//! What the page asks for.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How the code is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Quick to compile.
    Debug,
    /// Quick to run.
    Release,
}

/// What the page asks for. It names no file, no crate and no compiler flag.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The whole program.
    pub code: String,
    /// How to compile it.
    #[serde(default = "debug")]
    pub mode: Mode,
    /// Whether to run its `#[test]` functions instead of `main`.
    #[serde(default)]
    pub tests: bool,
    /// How long it may run.
    #[serde(default)]
    pub limit: TimeLimit,
}

fn debug() -> Mode {
    Mode::Debug
}

/// How long a program may run: the usual time, or the longer one that some
/// blocks of the book ask for. On the wire it is the number of seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u64")]
pub enum TimeLimit {
    /// Enough for everything that doesn't say otherwise.
    #[default]
    Usual,
    /// For the demonstrations that take long.
    Long,
    /// Enough to see that a program hangs. No page asks for it.
    Brief,
}

impl TimeLimit {
    /// The limit itself.
    pub fn duration(self) -> Duration {
        match self {
            Self::Usual => Duration::from_secs(10),
            Self::Long => Duration::from_secs(60),
            Self::Brief => Duration::from_secs(2),
        }
    }
}

impl TryFrom<u64> for TimeLimit {
    type Error = String;

    fn try_from(seconds: u64) -> Result<Self, String> {
        [Self::Usual, Self::Long]
            .into_iter()
            .find(|limit| limit.duration().as_secs() == seconds)
            .ok_or_else(|| format!("the limit is 10 or 60 seconds, not {seconds}"))
    }
}
