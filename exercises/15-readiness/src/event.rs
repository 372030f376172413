//! The types that the driver and the tasks share.

use std::error::Error;
use std::fmt;

/// A direction that a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The task waits until a read is worth a try.
    Read,
    /// The task waits until a write is worth a try.
    Write,
}

/// An event of one source, as the operating system reported it. Several fields
/// may be `true`, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// A read is worth a try.
    pub readable: bool,
    /// A write is worth a try.
    pub writable: bool,
    /// The peer sends no more, so every later read returns at once.
    pub read_closed: bool,
    /// The peer reads no more, so every later write fails at once.
    pub write_closed: bool,
    /// There's an error, which the next read or write returns.
    pub error: bool,
}

/// The error of a poll after the driver has shut down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShutDown;

impl fmt::Display for ShutDown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the I/O driver has shut down")
    }
}

impl Error for ShutDown {}
