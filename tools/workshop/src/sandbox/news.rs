//! What the launcher's threads tell its main thread.

use super::protocol::{Cause, Stream};

/// One piece of news of the program.
pub enum News {
    /// Some output; empty at the end of the stream.
    Output(Stream, Vec<u8>),
    /// The program itself has ended.
    Ended(Cause),
    /// No child is left.
    Childless,
    /// The server closed the pipe, or is gone.
    Cut,
}
