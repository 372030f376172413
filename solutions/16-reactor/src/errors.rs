//! Kinds of errors.

use std::io;

/// The error of every operation after the driver has shut down.
pub fn shut_down_error() -> io::Error {
    let ended = "the runtime that this belongs to was shut down";
    io::Error::new(io::ErrorKind::NotConnected, ended)
}

/// Returns `true` if the error concerns only this connection, so that `accept`
/// can go on with the next one at once.
pub fn is_of_the_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{
        ConnectionAborted, ConnectionRefused, ConnectionReset,
    };
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}

/// Returns `true` if the system lacks a resource, so that an attempt a moment
/// later would probably fail, too.
pub fn is_of_the_system(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        use libc::{EMFILE, ENFILE, ENOBUFS, ENOMEM};
        let code = error.raw_os_error();
        code.is_some_and(|it| [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(&it))
    }
    #[cfg(not(unix))]
    {
        let _ = error;
        true
    }
}
