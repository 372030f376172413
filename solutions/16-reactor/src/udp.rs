//! UDP.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use super::Handle;
use super::io::Io;
use readiness::Direction::{Read, Write};

/// A UDP socket.
pub struct UdpSocket {
    io: Io<mio::net::UdpSocket>,
}

impl UdpSocket {
    /// Makes a socket at `address`, at the current driver.
    ///
    /// # Errors
    ///
    /// If the address is taken, or the driver has ended.
    ///
    /// # Panics
    ///
    /// If this thread has entered no driver.
    #[track_caller]
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        Self::bind_on(&Handle::current(), address)
    }

    /// The same, at the driver of `handle`.
    ///
    /// # Errors
    ///
    /// As for [`bind`](Self::bind).
    pub fn bind_on(handle: &Handle, address: SocketAddr) -> io::Result<Self> {
        let socket = mio::net::UdpSocket::bind(address)?;
        let io = Io::new(socket, handle)?;
        Ok(Self { io })
    }

    /// Lets [`send`](Self::send) and [`recv`](Self::recv) concern `peer` only.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn connect(&self, peer: SocketAddr) -> io::Result<()> {
        self.io.connect(peer)
    }

    /// Sends a datagram to the peer. Returns its length.
    ///
    /// # Errors
    ///
    /// Those of the system, one of which may be about an earlier datagram.
    pub async fn send(&self, datagram: &[u8]) -> io::Result<usize> {
        self.io.run(Write, |socket| socket.send(datagram)).await
    }

    /// Receives a datagram from the peer. What doesn't fit is lost.
    ///
    /// # Errors
    ///
    /// Those of the system, one of which may be about a datagram that was sent.
    pub async fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.io.run(Read, |socket| socket.recv(buffer)).await
    }

    /// Sends a datagram. Returns its length.
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

    /// Receives a datagram. What doesn't fit is lost.
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

    /// Where it's bound.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }
}

impl fmt::Debug for UdpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (*self.io).fmt(f)
    }
}
