//! A stream of the runtime, as hyper wants it.

use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::rt::{Read, ReadBufCursor, Write};
use runtime::net::TcpStream;

/// Wraps a [`TcpStream`].
#[derive(Debug)]
pub struct Io {
    stream: TcpStream,
}

impl Io {
    /// Wraps a stream.
    pub fn new(stream: TcpStream) -> Self {
        Self { stream }
    }

    /// Gives the stream back, for example after an upgrade. What hyper has read
    /// ahead is with the parts that the upgrade gives.
    pub fn into_inner(self) -> TcpStream {
        self.stream
    }

    /// The stream.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }
}

impl Read for Io {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let unfilled = buffer.initialize_unfilled();
        if unfilled.is_empty() {
            return Poll::Ready(Ok(()));
        }
        let count = ready!(self.stream.poll_read(cx, unfilled))?;
        // If it isn't advanced, that's the end of the stream, and so it is for
        // a count of 0.
        // SAFETY: `initialize_unfilled` has initialized all that is unfilled,
        // and the count isn't larger.
        unsafe { buffer.advance(count) };
        Poll::Ready(Ok(()))
    }
}

impl Write for Io {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream.poll_write(cx, bytes)
    }

    /// Nothing is buffered here.
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
            // The peer was faster.
            Err(error) if error.kind() == io::ErrorKind::NotConnected => {
                Poll::Ready(Ok(()))
            }
            result => Poll::Ready(result),
        }
    }

    /// Without this, hyper copies the head and the body of a response into one
    /// buffer.
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
