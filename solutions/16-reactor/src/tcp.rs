//! TCP.

use std::fmt;
use std::io::{self, IoSlice, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use super::Handle;
use super::io::Io;
use readiness::Direction::{Read, Write};

/// So long a listener waits when the system lacks something for a connection.
const PAUSE: Duration = Duration::from_millis(50);

/// So many connections wait to be accepted, or fewer, if the system says so.
#[cfg(unix)]
const BACKLOG: libc::c_int = 1_024;

/// Accepts connections.
pub struct TcpListener {
    io: Io<mio::net::TcpListener>,
    /// When the next attempt may be made, after one that lacked something.
    paused_until: Mutex<Option<Instant>>,
}

impl TcpListener {
    /// Listens at `address`, at the current driver. Port 0 is any that is free.
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
        let listener = mio::net::TcpListener::bind(address)?;
        lengthen_backlog(&listener)?;
        Ok(Self {
            io: Io::new(listener, handle)?,
            paused_until: Mutex::new(None),
        })
    }

    /// Waits for a connection. Any number of tasks may do so.
    ///
    /// Dropped before it's ready, the future has accepted nothing.
    ///
    /// # Errors
    ///
    /// If the system lacks file descriptors or memory, for example. It's all
    /// right to go on: the next call waits a little before it tries again.
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        loop {
            let paused_until = *self.paused_until();
            if let Some(deadline) = paused_until {
                self.io.handle().sleep_until(deadline).await;
                *self.paused_until() = None;
            }
            match self.io.run(Read, mio::net::TcpListener::accept).await {
                Ok((stream, peer)) => {
                    let stream = TcpStream::new(stream, self.io.handle())?;
                    return Ok((stream, peer));
                }
                // It was there, and isn't any more.
                Err(error) if is_of_the_connection(&error) => {}
                Err(error) => {
                    // The connection still waits, and so the listener stays
                    // ready: the next attempt would fail at once.
                    if is_of_the_system(&error) {
                        *self.paused_until() = Some(Instant::now() + PAUSE);
                    }
                    return Err(error);
                }
            }
        }
    }

    /// Where it listens.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    fn paused_until(&self) -> MutexGuard<'_, Option<Instant>> {
        let paused = self.paused_until.lock();
        paused.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets as many connections wait for `accept` as tokio does. mio lets 128 wait,
/// and the system drops what comes then: the client tries again after a second.
fn lengthen_backlog(listener: &mio::net::TcpListener) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::fd::AsRawFd;
        // SAFETY: the descriptor is open, and listens already: that changes the
        // length only.
        if unsafe { libc::listen(listener.as_raw_fd(), BACKLOG) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    let _ = listener;
    Ok(())
}

/// Returns `true` if the next connection may be there, although this one isn't.
fn is_of_the_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{
        ConnectionAborted, ConnectionRefused, ConnectionReset,
    };
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}

/// Returns `true` if it's likely to be the same a moment later.
fn is_of_the_system(error: &io::Error) -> bool {
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

/// A connection. All methods take `&self`, so that one task may read and
/// another write.
///
/// The methods whose names begin with `poll_` keep one waker for reading and
/// one for writing: the last one. Any number of tasks may await the others.
pub struct TcpStream {
    io: Io<mio::net::TcpStream>,
}

impl TcpStream {
    fn new(stream: mio::net::TcpStream, handle: &Handle) -> io::Result<Self> {
        let io = Io::new_stream(stream, handle)?;
        Ok(Self { io })
    }

    /// Connects to `address`, at the current driver.
    ///
    /// # Errors
    ///
    /// If there's no connection to be had, or the driver has ended.
    ///
    /// # Panics
    ///
    /// If this thread has entered no driver.
    pub async fn connect(address: SocketAddr) -> io::Result<Self> {
        Self::connect_on(&Handle::current(), address).await
    }

    /// The same, at the driver of `handle`.
    ///
    /// # Errors
    ///
    /// As for [`connect`](Self::connect).
    pub async fn connect_on(
        handle: &Handle,
        address: SocketAddr,
    ) -> io::Result<Self> {
        let stream = mio::net::TcpStream::connect(address)?;
        let this = Self::new(stream, handle)?;
        // Writable says that the attempt is over, and not how it ended.
        this.io.run(Write, has_connected).await?;
        Ok(this)
    }

    /// Makes one of std's, at the current driver.
    ///
    /// # Errors
    ///
    /// If the driver has ended.
    ///
    /// # Panics
    ///
    /// If this thread has entered no driver.
    #[track_caller]
    pub fn from_std(stream: std::net::TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let stream = mio::net::TcpStream::from_std(stream);
        Self::new(stream, &Handle::current())
    }

    /// Reads what is there. Returns 0 at the end, or if `buffer` is empty.
    ///
    /// Dropped before it's ready, the future has read nothing.
    ///
    /// # Errors
    ///
    /// Those of the system, such as a reset by the peer.
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len();
        let read = |mut stream: &mio::net::TcpStream| stream.read(buffer);
        self.io.run_bytes(Read, length, read).await
    }

    /// Writes as much as there is room for.
    ///
    /// Dropped before it's ready, the future has written nothing.
    ///
    /// # Errors
    ///
    /// Those of the system, such as a reset by the peer.
    pub async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let write = |mut stream: &mio::net::TcpStream| stream.write(bytes);
        self.io.run_bytes(Write, bytes.len(), write).await
    }

    /// Writes all of it.
    ///
    /// Dropped before it's ready, the future may have written a part.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write), and if there's never room.
    pub async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.write(bytes).await? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                count => bytes = &bytes[count..],
            }
        }
        Ok(())
    }

    /// Reads until `buffer` is full.
    ///
    /// Dropped before it's ready, the future may have read a part, which is
    /// lost.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read), and `UnexpectedEof` if the end comes first.
    pub async fn read_exact(&self, mut buffer: &mut [u8]) -> io::Result<()> {
        while !buffer.is_empty() {
            match self.read(buffer).await? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => buffer = &mut buffer[count..],
            }
        }
        Ok(())
    }

    /// Reads to the end. Returns how much it has added to `buffer`.
    ///
    /// Dropped before it's ready, the future has added what it has read.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read).
    pub async fn read_to_end(&self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let before = buffer.len();
        let mut part = [0; 4_096];
        loop {
            match self.read(&mut part).await? {
                0 => return Ok(buffer.len() - before),
                count => buffer.extend_from_slice(&part[..count]),
            }
        }
    }

    /// Waits until there may be something to read.
    ///
    /// # Errors
    ///
    /// If the driver has ended.
    pub async fn readable(&self) -> io::Result<()> {
        self.io.ready(Read).await
    }

    /// Waits until there may be room to write.
    ///
    /// # Errors
    ///
    /// If the driver has ended.
    pub async fn writable(&self) -> io::Result<()> {
        self.io.ready(Write).await
    }

    /// Like [`read`](Self::read).
    pub fn poll_read(
        &self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let length = buffer.len();
        let read = |mut stream: &mio::net::TcpStream| stream.read(buffer);
        self.io.poll_bytes(cx, Read, length, read)
    }

    /// Like [`write`](Self::write).
    pub fn poll_write(
        &self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let write = |mut stream: &mio::net::TcpStream| stream.write(bytes);
        self.io.poll_bytes(cx, Write, bytes.len(), write)
    }

    /// Like [`write`](Self::write), of several parts in a row.
    pub fn poll_write_vectored(
        &self,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // The system takes only so many parts at a time. Then a short write
        // doesn't mean that there's no more room.
        const MOST: usize = 1_024;
        let parts = &parts[..parts.len().min(MOST)];
        let length = parts.iter().map(|part| part.len()).sum();
        let write =
            |mut stream: &mio::net::TcpStream| stream.write_vectored(parts);
        self.io.poll_bytes(cx, Write, length, write)
    }

    /// Ends one direction, or both. The peer then reads to the end.
    ///
    /// # Errors
    ///
    /// If there's no connection any more.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.io.shutdown(how)
    }

    /// Where the peer is.
    ///
    /// # Errors
    ///
    /// If there's no connection any more.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.peer_addr()
    }

    /// Where this end is.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    /// Says whether small parts are sent at once (`true`), or may wait for what
    /// comes after them.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn set_nodelay(&self, is_on: bool) -> io::Result<()> {
        self.io.set_nodelay(is_on)
    }
}

// ANCHOR: has_connected
/// `WouldBlock` if the attempt isn't over.
fn has_connected(stream: &mio::net::TcpStream) -> io::Result<()> {
    if let Some(error) = stream.take_error()? {
        return Err(error);
    }
    // An event may be wrong: then there's neither an error nor a peer.
    match stream.peer_addr() {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotConnected => {
            Err(io::ErrorKind::WouldBlock.into())
        }
        Err(error) => Err(error),
    }
}
// ANCHOR_END: has_connected

impl fmt::Debug for TcpListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (*self.io).fmt(f)
    }
}

impl fmt::Debug for TcpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (*self.io).fmt(f)
    }
}
