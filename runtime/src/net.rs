//! TCP and UDP, at the reactor of the runtime that the caller is in.
//!
//! All methods take `&self`, so that one task can read while another writes,
//! by an `Arc` of the stream or within one `join`. A future that is dropped
//! before it's ready has moved no byte, unless its documentation says otherwise.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

pub use reactor::{TcpListener, TcpStream, UdpSocket};

/// Resolves a host name and a port, such as `"localhost:80"`, on a thread for
/// blocking jobs.
///
/// # Errors
///
/// If there's no such host, or the resolver can't be asked.
///
/// # Panics
///
/// Where there's no [`Runtime`](super::Runtime).
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

/// Resolves a host name and a port, and connects to the first of its addresses
/// that answers.
///
/// # Errors
///
/// If the host can't be resolved; or the error of the last address.
///
/// # Panics
///
/// Where there's no [`Runtime`](super::Runtime).
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
