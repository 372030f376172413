//! hyper's I/O traits, for a stream of the runtime.

use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::rt::{Read, ReadBufCursor, Write};
use runtime::net::TcpStream;

/// A [`TcpStream`] with hyper's [`Read`] and [`Write`]. Dropping it closes the
/// connection.
#[derive(Debug)]
pub struct Io {
    stream: TcpStream,
}

impl Io {
    /// Wraps a stream.
    ///
    /// Consider [`TcpStream::set_nodelay`] first, so that small responses are
    /// sent at once.
    pub fn new(stream: TcpStream) -> Self {
        Self { stream }
    }

    /// Returns the stream, for example after an upgrade. Bytes that hyper has
    /// already read from it are in `read_buf` of the
    /// [`Parts`](hyper::upgrade::Parts) of the upgrade.
    pub fn into_inner(self) -> TcpStream {
        self.stream
    }

    /// Returns a reference to the stream.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }
}

impl Read for Io {
    // ANCHOR: read
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        // SAFETY: no byte of the slice is de-initialized, because
        // `poll_read_uninit` only writes bytes that it has read.
        let unfilled = unsafe { buffer.as_mut() };
        if unfilled.is_empty() {
            return Poll::Ready(Ok(()));
        }
        let count = ready!(self.stream.poll_read_uninit(cx, unfilled))?;
        // To hyper, a cursor that isn't advanced means the end of the stream. A
        // count of 0 means the same.
        // SAFETY: the first `count` bytes of the unfilled part are initialized
        // now.
        unsafe { buffer.advance(count) };
        Poll::Ready(Ok(()))
    }
    // ANCHOR_END: read
}

// ANCHOR: write
impl Write for Io {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream.poll_write(cx, bytes)
    }

    /// Does nothing, because this adapter has no buffer.
    fn poll_flush(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        match self.stream.shutdown(Shutdown::Write) {
            // The peer has closed the connection already.
            Err(error) if error.kind() == io::ErrorKind::NotConnected => {
                Poll::Ready(Ok(()))
            }
            result => Poll::Ready(result),
        }
    }

    /// Returns `true`. Otherwise hyper would copy the head and the body of a
    /// response into one buffer.
    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream.poll_write_vectored(cx, parts)
    }
}
// ANCHOR_END: write
