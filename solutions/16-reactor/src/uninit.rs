//! Reads into memory that isn't initialized, for adapters to the traits of
//! other crates. Exercise 16 doesn't ask for it.

use std::io;
use std::mem::MaybeUninit;
use std::task::{Context, Poll};

use socket2::SockRef;

use super::TcpStream;
use readiness::Direction::Read;

impl TcpStream {
    /// Like [`poll_read`](Self::poll_read), into memory that needn't be
    /// initialized. If this returns `Ready(Ok(count))`, the first `count` bytes
    /// of `buffer` are initialized.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read).
    pub fn poll_read_uninit(
        &self,
        cx: &mut Context<'_>,
        buffer: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>> {
        let length = buffer.len();
        let read =
            |stream: &mio::net::TcpStream| SockRef::from(stream).recv(buffer);
        self.io.poll_bytes(cx, Read, length, read)
    }
}
