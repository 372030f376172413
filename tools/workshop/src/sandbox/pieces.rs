//! Cuts a stream of bytes into text without breaking characters or lines.

use std::time::{Duration, Instant};

/// How long the beginning of a line waits for the rest: `eprintln!` writes a line in
/// several pieces, and the other stream's lines would come between them.
pub const LINE_WAIT: Duration = Duration::from_millis(50);

/// A line that is longer than this isn't waited for.
const LONGEST_LINE: usize = 4 * 1024;

/// Holds back an unfinished character until its other bytes arrive, and an
/// unfinished line for a moment.
#[derive(Default)]
pub struct Pieces {
    unfinished: Vec<u8>,
    line: String,
    since: Option<Instant>,
}

impl Pieces {
    /// Returns the lines that are complete after `bytes`; what isn't UTF-8 is
    /// replaced by `U+FFFD`.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.unfinished.extend_from_slice(bytes);
        let complete = self.unfinished.len() - unfinished_tail(&self.unfinished);
        self.line += &String::from_utf8_lossy(&self.unfinished[..complete]);
        self.unfinished.drain(..complete);
        let end = match self.line.rfind('\n') {
            _ if self.line.len() > LONGEST_LINE => self.line.len(),
            Some(last) => last + 1,
            None => 0,
        };
        let rest = self.line.split_off(end);
        let lines = std::mem::replace(&mut self.line, rest);
        if self.line.is_empty() {
            self.since = None;
        } else if self.since.is_none() || !lines.is_empty() {
            self.since = Some(Instant::now());
        }
        lines
    }

    /// Returns the beginning of a line for whose rest it has waited long enough.
    pub fn overdue(&mut self, now: Instant) -> String {
        let is_due = |since: Instant| now.saturating_duration_since(since) >= LINE_WAIT;
        if !self.since.is_some_and(is_due) {
            return String::new();
        }
        self.take_line()
    }

    /// Returns the beginning of a line, however short it has waited.
    pub fn take_line(&mut self) -> String {
        self.since = None;
        std::mem::take(&mut self.line)
    }

    /// Returns what is left at the end of the stream.
    pub fn finish(&mut self) -> String {
        self.since = None;
        let mut rest = std::mem::take(&mut self.line);
        rest += &String::from_utf8_lossy(&std::mem::take(&mut self.unfinished));
        rest
    }
}

/// The number of bytes at the end that may be the beginning of a character.
fn unfinished_tail(bytes: &[u8]) -> usize {
    // A character has at most four bytes, so an unfinished one at most three.
    let tail = &bytes[bytes.len().saturating_sub(3)..];
    for (start, &byte) in tail.iter().enumerate() {
        let length = match byte {
            0b1100_0000..=0b1101_1111 => 2,
            0b1110_0000..=0b1110_1111 => 3,
            0b1111_0000..=0b1111_0111 => 4,
            _ => continue,
        };
        let present = tail.len() - start;
        if present < length && tail[start + 1..].iter().all(|&byte| byte & 0xC0 == 0x80) {
            return present;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::{LINE_WAIT, LONGEST_LINE, Pieces};

    #[test]
    fn a_line_that_is_written_in_pieces_arrives_whole() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.push(b"one\ntw"), "one\n");
        assert_eq!(pieces.push(b"o"), "");
        assert_eq!(pieces.overdue(Instant::now()), "");
        assert_eq!(pieces.push(b"\nthree"), "two\n");
        let later = Instant::now() + LINE_WAIT;
        assert_eq!(pieces.overdue(later), "three");
        assert_eq!(pieces.overdue(later), "");
        assert_eq!(pieces.push(b"!\n"), "!\n");
        let long = "x".repeat(LONGEST_LINE + 1);
        assert_eq!(pieces.push(long.as_bytes()), long);
        assert_eq!(pieces.push(b"end"), "");
        assert_eq!(pieces.finish(), "end");
    }

    #[test]
    fn a_character_cut_anywhere_arrives_whole() {
        let text = "aé€😀z";
        for cut in 0..=text.len() {
            let mut pieces = Pieces::default();
            let mut seen = pieces.push(&text.as_bytes()[..cut]);
            seen += &pieces.push(&text.as_bytes()[cut..]);
            seen += &pieces.finish();
            assert_eq!(seen, text, "cut after {cut} bytes");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced_and_do_not_hold_back_others() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.push(b"a\xFFb\n"), "a\u{FFFD}b\n");
        assert_eq!(pieces.push(b"\xE2\x82"), "");
        assert_eq!(pieces.finish(), "\u{FFFD}");
    }
}
