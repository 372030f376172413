//! Cuts a stream of bytes into text without breaking characters.

/// Holds back an unfinished character until its other bytes arrive.
#[derive(Default)]
pub struct Pieces {
    unfinished: Vec<u8>,
}

impl Pieces {
    /// Returns the text that is complete after `bytes`; what isn't UTF-8 is
    /// replaced by `U+FFFD`.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.unfinished.extend_from_slice(bytes);
        let complete = self.unfinished.len() - unfinished_tail(&self.unfinished);
        let text = String::from_utf8_lossy(&self.unfinished[..complete]).into_owned();
        self.unfinished.drain(..complete);
        text
    }

    /// Returns what is left at the end of the stream.
    pub fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.unfinished)).into_owned()
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
    use super::Pieces;

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
        assert_eq!(pieces.push(b"a\xFFb"), "a\u{FFFD}b");
        assert_eq!(pieces.push(b"\xE2\x82"), "");
        assert_eq!(pieces.finish(), "\u{FFFD}");
    }
}
