//! One direction of a connection: what was sent and hasn't been read.

use std::collections::VecDeque;
use std::time::Duration;

// ANCHOR: wire
/// The bytes that are on their way, or have arrived and wait to be read.
#[derive(Default)]
pub struct Wire {
    segments: VecDeque<Segment>,
    /// When the last byte, or the end, arrives.
    last_arrival: Duration,
    /// When the end arrives, if it was sent.
    end: Option<Duration>,
}

/// What one call of [`Wire::send`] sent.
struct Segment {
    arrival: Duration,
    bytes: VecDeque<u8>,
}

impl Wire {
    /// Creates a wire on which nothing was sent.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends bytes that arrive at `arrival`, or when everything that was sent
    /// earlier has arrived, if that's later.
    pub fn send(&mut self, bytes: &[u8], arrival: Duration) {
        if bytes.is_empty() || self.end.is_some() {
            return;
        }
        self.last_arrival = self.last_arrival.max(arrival);
        self.segments.push_back(Segment {
            arrival: self.last_arrival,
            bytes: bytes.iter().copied().collect(),
        });
    }

    /// Sends the end of the stream, which doesn't overtake a byte either. What
    /// is sent later is lost.
    pub fn end(&mut self, arrival: Duration) {
        self.last_arrival = self.last_arrival.max(arrival);
        self.end.get_or_insert(self.last_arrival);
    }

    /// Returns when there's something to read, which may be in the past: a
    /// byte, or else the end.
    pub fn next_arrival(&self) -> Option<Duration> {
        let first = self.segments.front().map(|segment| segment.arrival);
        first.or(self.end)
    }

    /// Reads bytes that have arrived by `now` into a buffer that isn't empty.
    /// Returns their number, 0 at the end, and `None` if nothing has arrived.
    pub fn receive(
        &mut self,
        now: Duration,
        buffer: &mut [u8],
    ) -> Option<usize> {
        if self.next_arrival()? > now {
            return None;
        }
        let mut count = 0;
        while let Some(segment) = self.segments.front_mut() {
            if segment.arrival > now || count == buffer.len() {
                break;
            }
            let length = segment.bytes.len().min(buffer.len() - count);
            let bytes = segment.bytes.drain(..length);
            buffer[count..]
                .iter_mut()
                .zip(bytes)
                .for_each(|(to, byte)| {
                    *to = byte;
                });
            count += length;
            if segment.bytes.is_empty() {
                self.segments.pop_front();
            }
        }
        Some(count)
    }
}
// ANCHOR_END: wire
