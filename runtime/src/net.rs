//! TCP and UDP, on the reactor of the runtime that the caller is in.
//!
//! All methods take `&self`, so one task can read while another writes: share
//! the stream in an `Arc`, or do both in one [`join`](fn@super::join). A future
//! that's dropped before it's ready has moved no byte, unless the documentation
//! of its method says otherwise.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

pub use reactor::{TcpListener, TcpStream, UdpSocket};

/// Resolves a host name and a port, such as `"localhost:80"`, on a thread for
/// blocking jobs.
///
/// If the future is dropped, the job runs on to its end, and its result is
/// dropped.
///
/// # Errors
///
/// Returns the resolver's error if it finds no such host, and `InvalidInput` if
/// the port is missing or invalid.
///
/// # Panics
///
/// When first polled, if the thread has entered no [`Runtime`](super::Runtime).
pub async fn lookup_host(
    host: impl Into<String>,
) -> io::Result<Vec<SocketAddr>> {
    let host = host.into();
    let resolve = move || host.to_socket_addrs().map(Iterator::collect);
    let resolving = super::spawn_blocking(resolve);
    resolving
        .await
        .unwrap_or_else(|error| Err(io::Error::other(error)))
}

/// Resolves a host name and a port, such as `"localhost:80"`, and tries the
/// addresses one after the other until a connection is made.
///
/// There's no timeout other than the operating system's: see
/// [`timeout`](super::timeout()). If the future is dropped before it's ready,
/// the socket of the current attempt is closed.
///
/// # Errors
///
/// Returns the error of [`lookup_host`], or the error of the attempt with the
/// last address.
///
/// # Panics
///
/// When first polled, if the thread has entered no [`Runtime`](super::Runtime).
pub async fn connect(host: impl Into<String>) -> io::Result<TcpStream> {
    let none = "the host has no address";
    let mut result = Err(io::Error::new(io::ErrorKind::NotFound, none));
    for address in lookup_host(host).await? {
        result = TcpStream::connect(address).await;
        if result.is_ok() {
            break;
        }
    }
    result
}
