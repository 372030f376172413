//! Lines from a stream.

use std::io;

use super::world::TcpStream;

/// A stream, and what was read of the next line.
pub struct Lines {
    stream: TcpStream,
    /// Bytes that were read and not returned yet. They are here and not in a
    /// future, so a future that's dropped loses none.
    read: Vec<u8>,
}

impl Lines {
    pub fn new(stream: TcpStream) -> Self {
        let read = Vec::new();
        Self { stream, read }
    }

    /// Returns the next line, or `None` at the end of the stream.
    pub async fn next(&mut self) -> io::Result<Option<String>> {
        loop {
            let end = self.read.iter().position(|&byte| byte == b'\n');
            if let Some(end) = end {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line[..end]);
                return Ok(Some(line.into_owned()));
            }
            let mut buffer = [0; 64];
            match self.stream.read(&mut buffer).await? {
                0 => return Ok(None),
                count => self.read.extend(&buffer[..count]),
            }
        }
    }

    /// Sends a line.
    pub async fn send(&self, line: &str) -> io::Result<()> {
        self.stream.write_all(line.as_bytes()).await?;
        self.stream.write_all(b"\n").await
    }
}
