//! TCP listeners and streams.

use std::fmt;
use std::io::{self, IoSlice, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr};
use std::sync::Mutex;
use std::task::{Context, Poll};
use std::time::Instant;

use super::{Handle, Io, accept, has_connected};
use readiness::Direction::{Read, Write};

/// The most connections that wait to be accepted, unless the system's own limit
/// is lower.
#[cfg(unix)]
const BACKLOG: libc::c_int = 1_024;

/// A TCP socket that accepts connections.
///
/// Dropping the listener closes the socket.
pub struct TcpListener {
    io: Io<mio::net::TcpListener>,
    /// When the next attempt may be made, after one that lacked a resource.
    paused_until: Mutex<Option<Instant>>,
}

impl TcpListener {
    /// Listens at `address`, on the driver of the [current](Handle::current)
    /// handle. With port 0, the operating system chooses a free port.
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
        let listener = mio::net::TcpListener::bind(address)?;
        lengthen_backlog(&listener)?;
        Ok(Self {
            io: Io::new(listener, handle)?,
            paused_until: Mutex::new(None),
        })
    }

    /// Waits for a connection, and returns the stream and the peer's address.
    /// Any number of tasks may wait at the same time.
    ///
    /// If the future is dropped before it's ready, it has accepted no
    /// connection.
    ///
    /// # Errors
    ///
    /// Returns the operating system's error, for example if the process has no
    /// file descriptor left, and `NotConnected` if the driver has shut down. A
    /// loop may go on after an error: if the system lacked a resource, the next
    /// call waits for 50 ms before it tries again.
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let accepted = accept(&self.io, &self.paused_until).await;
        let (stream, peer) = accepted?;
        Ok((TcpStream::new(stream, self.io.handle())?, peer))
    }

    /// Returns the address that the listener is bound to.
    ///
    /// # Errors
    ///
    /// Returns the operating system's error.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }
}

/// Makes the backlog as long as tokio's. mio's has a length of 128. When it's
/// full, Linux drops further attempts to connect, and a client tries again only
/// after a second.
fn lengthen_backlog(listener: &mio::net::TcpListener) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::fd::AsRawFd;
        // SAFETY: the descriptor is open. The socket listens already, so the
        // call only changes the length of its backlog.
        if unsafe { libc::listen(listener.as_raw_fd(), BACKLOG) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    let _ = listener;
    Ok(())
}

/// A TCP connection. All methods take `&self`, so that one task can read while
/// another writes.
///
/// Any number of tasks may await the async methods at the same time. The
/// methods whose names begin with `poll_` store one waker for reading and one
/// for writing, that of the newest poll.
///
/// Dropping the stream closes the connection. After the driver has shut down,
/// the methods that read, write or wait return an error of the kind
/// [`NotConnected`](io::ErrorKind::NotConnected).
pub struct TcpStream {
    pub(crate) io: Io<mio::net::TcpStream>,
}

impl TcpStream {
    fn new(stream: mio::net::TcpStream, handle: &Handle) -> io::Result<Self> {
        let io = Io::new_stream(stream, handle)?;
        Ok(Self { io })
    }

    /// Connects to `address`, on the driver of the [current](Handle::current)
    /// handle.
    ///
    /// If the future is dropped before it's ready, the socket is closed, and
    /// with it any connection that was made.
    ///
    /// # Errors
    ///
    /// Returns the operating system's error for the attempt, such as
    /// `ConnectionRefused`, and `NotConnected` if the driver has shut down.
    ///
    /// # Panics
    ///
    /// When first polled, if the thread has no current handle.
    pub async fn connect(address: SocketAddr) -> io::Result<Self> {
        Self::connect_on(&Handle::current(), address).await
    }

    /// Like [`connect`](Self::connect), on the driver of `handle`.
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
        // A writable socket says that the attempt is over, not how it ended.
        this.io.run(Write, has_connected).await?;
        Ok(this)
    }

    /// Converts a stream of std, and registers it with the driver of the
    /// [current](Handle::current) handle. The stream becomes non-blocking, as
    /// do its duplicates.
    ///
    /// # Errors
    ///
    /// Returns the operating system's error, and `NotConnected` if the driver
    /// has shut down.
    ///
    /// # Panics
    ///
    /// If the thread has no current handle.
    #[track_caller]
    pub fn from_std(stream: std::net::TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let stream = mio::net::TcpStream::from_std(stream);
        Self::new(stream, &Handle::current())
    }

    /// Waits until there's something to read, and reads up to `buffer.len()`
    /// bytes. Returns the number of bytes. That's 0 at the end of the stream,
    /// or if `buffer` is empty.
    ///
    /// If the future is dropped before it's ready, it has read nothing.
    ///
    /// # Errors
    ///
    /// Returns the operating system's error, such as `ConnectionReset`, and
    /// `NotConnected` if the driver has shut down.
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len();
        let read = |mut stream: &mio::net::TcpStream| stream.read(buffer);
        self.io.run_bytes(Read, length, read).await
    }

    /// Waits until the kernel's buffer has room, and writes as many of the
    /// bytes as fit. Returns their number.
    ///
    /// If the future is dropped before it's ready, it has written nothing.
    ///
    /// # Errors
    ///
    /// Returns the operating system's error, such as `ConnectionReset` or
    /// `BrokenPipe`, and `NotConnected` if the driver has shut down.
    pub async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let write = |mut stream: &mio::net::TcpStream| stream.write(bytes);
        self.io.run_bytes(Write, bytes.len(), write).await
    }

    /// Writes all of the bytes.
    ///
    /// If the future is dropped before it's ready, it may have written some of
    /// the bytes, and doesn't say how many. The same holds after an error.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write), and `WriteZero` if a write takes no byte.
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
    /// If the future is dropped before it's ready, it may have read some of the
    /// bytes into `buffer`, and doesn't say how many. The next read doesn't
    /// return them again. The same holds after an error.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read), and `UnexpectedEof` if the stream ends
    /// before `buffer` is full.
    pub async fn read_exact(&self, mut buffer: &mut [u8]) -> io::Result<()> {
        while !buffer.is_empty() {
            match self.read(buffer).await? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => buffer = &mut buffer[count..],
            }
        }
        Ok(())
    }

    /// Reads to the end of the stream and appends the bytes to `buffer`.
    /// Returns the number of bytes appended.
    ///
    /// If the future is dropped before it's ready, `buffer` has all the bytes
    /// that were read until then. The same holds after an error.
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

    /// Waits until a read is worth a try. It may still have to wait, because
    /// readiness is a guess.
    ///
    /// If the future is dropped, that changes nothing.
    ///
    /// # Errors
    ///
    /// Returns `NotConnected` if the driver has shut down.
    pub async fn readable(&self) -> io::Result<()> {
        self.io.ready(Read).await
    }

    /// Waits until a write is worth a try. It may still have to wait, because
    /// readiness is a guess.
    ///
    /// If the future is dropped, that changes nothing.
    ///
    /// # Errors
    ///
    /// Returns `NotConnected` if the driver has shut down.
    pub async fn writable(&self) -> io::Result<()> {
        self.io.ready(Write).await
    }

    /// Like [`read`](Self::read), as a poll. If it returns `Pending`, nothing
    /// was read, and the waker of the newest poll for reading is woken when a
    /// read is worth a try.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read).
    pub fn poll_read(
        &self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let length = buffer.len();
        let read = |mut stream: &mio::net::TcpStream| stream.read(buffer);
        self.io.poll_bytes(cx, Read, length, read)
    }

    /// Like [`write`](Self::write), as a poll. If it returns `Pending`, nothing
    /// was written, and the waker of the newest poll for writing is woken when
    /// a write is worth a try.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    pub fn poll_write(
        &self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let write = |mut stream: &mio::net::TcpStream| stream.write(bytes);
        self.io.poll_bytes(cx, Write, bytes.len(), write)
    }

    /// Like [`poll_write`](Self::poll_write), for several slices in a row.
    /// Returns the number of bytes written, which may end within a slice.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    pub fn poll_write_vectored(
        &self,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // Linux takes at most this many slices in one call. If we passed more,
        // a short write wouldn't mean that the kernel's buffer is full.
        const MOST: usize = 1_024;
        let parts = &parts[..parts.len().min(MOST)];
        let length = parts.iter().map(|part| part.len()).sum();
        let write =
            |mut stream: &mio::net::TcpStream| stream.write_vectored(parts);
        self.io.poll_bytes(cx, Write, length, write)
    }

    /// Shuts down reading, writing, or both, at once. After `Shutdown::Write`
    /// the peer reads the bytes that were sent before, and then the end of the
    /// stream.
    ///
    /// # Errors
    ///
    /// Returns the operating system's error, such as `NotConnected` if the
    /// connection has ended already.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.io.shutdown(how)
    }

    /// Returns the address of the peer.
    ///
    /// # Errors
    ///
    /// Returns the operating system's error, such as `NotConnected` if the
    /// connection has ended.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.peer_addr()
    }

    /// Returns the local address of the connection.
    ///
    /// # Errors
    ///
    /// Returns the operating system's error.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    /// Sets `TCP_NODELAY`. If `is_on` is `true`, small segments are sent at
    /// once. Otherwise they may wait for more data (Nagle's algorithm), which
    /// is the default.
    ///
    /// # Errors
    ///
    /// Returns the operating system's error.
    pub fn set_nodelay(&self, is_on: bool) -> io::Result<()> {
        self.io.set_nodelay(is_on)
    }
}

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
