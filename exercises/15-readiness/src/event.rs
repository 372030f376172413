//! What the driver and the tasks tell each other.

use std::error::Error;
use std::fmt;

/// What a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Until a read is worth a try.
    Read,
    /// Until a write is worth a try.
    Write,
}

/// What the operating system has reported about one source. Several fields may
/// be `true`, and so may none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// A read is worth a try.
    pub readable: bool,
    /// A write is worth a try.
    pub writable: bool,
    /// The other side sends no more: all reads to come return at once.
    pub read_closed: bool,
    /// The other side reads no more: all writes to come fail at once.
    pub write_closed: bool,
    /// There is an error, which the next read or write returns.
    pub error: bool,
}

/// The error of a task that waits though the driver has shut down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShutDown;

impl fmt::Display for ShutDown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the I/O driver has shut down")
    }
}

impl Error for ShutDown {}
