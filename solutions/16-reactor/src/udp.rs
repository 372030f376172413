//! UDP sockets.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use super::{Handle, Io};
use readiness::Direction::{Read, Write};

/// A UDP socket. All methods take `&self`, and any number of tasks may await
/// them at the same time.
///
/// Dropping the socket closes it. After the driver has shut down, the async
/// methods return an error of the kind
/// [`NotConnected`](io::ErrorKind::NotConnected).
pub struct UdpSocket {
    io: Io<mio::net::UdpSocket>,
}

impl UdpSocket {
    /// Creates a socket that's bound to `address`, on the driver of the
    /// [current](Handle::current) handle. With port 0, the operating system
    /// chooses a free port.
    ///
    /// # Errors
    ///
    /// Returns the operating system's error, for example if the address is in
    /// use, and `NotConnected` if the driver has shut down.
    ///
    /// # Panics
    ///
    /// If the thread has no current handle.
    #[track_caller]
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        Self::bind_on(&Handle::current(), address)
    }

    /// Like [`bind`](Self::bind), on the driver of `handle`.
    ///
    /// # Errors
    ///
    /// As for [`bind`](Self::bind).
    pub fn bind_on(handle: &Handle, address: SocketAddr) -> io::Result<Self> {
        let socket = mio::net::UdpSocket::bind(address)?;
        let io = Io::new(socket, handle)?;
        Ok(Self { io })
    }

    /// Sets the peer of [`send`](Self::send) and [`recv`](Self::recv): the
    /// socket then receives datagrams from `peer` only. No datagram is sent,
    /// and the call returns at once.
    ///
    /// # Errors
    ///
    /// Returns the operating system's error.
    pub fn connect(&self, peer: SocketAddr) -> io::Result<()> {
        self.io.connect(peer)
    }

    /// Sends a datagram to the [connected](Self::connect) peer. Returns the
    /// length of the datagram in bytes.
    ///
    /// If the future is dropped before it's ready, it has sent nothing.
    ///
    /// # Errors
    ///
    /// Returns the operating system's error, which may concern an earlier
    /// datagram, and `NotConnected` if the driver has shut down.
    pub async fn send(&self, datagram: &[u8]) -> io::Result<usize> {
        self.io.run(Write, |socket| socket.send(datagram)).await
    }

    /// Receives a datagram from the [connected](Self::connect) peer. Returns
    /// the number of bytes stored in `buffer`. If the datagram is longer than
    /// `buffer`, Unix systems drop the rest of it.
    ///
    /// If the future is dropped before it's ready, it has received nothing.
    ///
    /// # Errors
    ///
    /// Returns the operating system's error, which may concern a datagram that
    /// was sent earlier, and `NotConnected` if the driver has shut down.
    pub async fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.io.run(Read, |socket| socket.recv(buffer)).await
    }

    /// Sends a datagram to `to`. Returns the length of the datagram in bytes.
    ///
    /// If the future is dropped before it's ready, it has sent nothing.
    ///
    /// # Errors
    ///
    /// As for [`send`](Self::send).
    pub async fn send_to(
        &self,
        datagram: &[u8],
        to: SocketAddr,
    ) -> io::Result<usize> {
        self.io
            .run(Write, |socket| socket.send_to(datagram, to))
            .await
    }

    /// Receives a datagram. Returns the number of bytes stored in `buffer`, and
    /// the address of the sender. If the datagram is longer than `buffer`, Unix
    /// systems drop the rest of it.
    ///
    /// If the future is dropped before it's ready, it has received nothing.
    ///
    /// # Errors
    ///
    /// As for [`recv`](Self::recv).
    pub async fn recv_from(
        &self,
        buffer: &mut [u8],
    ) -> io::Result<(usize, SocketAddr)> {
        self.io.run(Read, |socket| socket.recv_from(buffer)).await
    }

    /// Returns the address that the socket is bound to.
    ///
    /// # Errors
    ///
    /// Returns the operating system's error.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }
}

impl fmt::Debug for UdpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (*self.io).fmt(f)
    }
}
