//! Which entries of the wheel are unused: a bit for each.
//!
//! A list of them would be shorter. However, it hands them out in the order in
//! which they were freed, which is the order of the deadlines, and so
//! practically random. Sleeps that begin one after another would be scattered
//! over memory, and each would cost several cache misses. Therefore the entries
//! are taken in the order of their indices.

/// How many words the search goes back for an entry that has just been freed,
/// because it's still in a cache.
const NEAR: usize = 16;

/// At least one entry in this many is unused when the search starts over, so
/// that an entry costs the same no matter how many there are.
const SPARSE: usize = 8;

/// A set of indices.
#[derive(Default)]
pub(crate) struct Unused {
    words: Vec<u64>,
    count: usize,
    /// Where the search goes on.
    next_word: usize,
}

impl Unused {
    /// Takes the next index out. Returns `None` if there are none, or too few
    /// to be worth a search.
    pub(crate) fn take(&mut self) -> Option<u32> {
        let bit_count = self.words.len() * u64::BITS as usize;
        if self.next_word == self.words.len()
            && self.count >= bit_count / SPARSE
        {
            self.next_word = 0;
        }
        while let Some(word) = self.words.get_mut(self.next_word) {
            if *word != 0 {
                let bit = word.trailing_zeros();
                *word &= !(1 << bit);
                self.count -= 1;
                return Some(self.next_word as u32 * u64::BITS + bit);
            }
            self.next_word += 1;
        }
        None
    }

    /// Puts an index in.
    pub(crate) fn put(&mut self, index: u32) {
        let word = (index / u64::BITS) as usize;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (index % u64::BITS);
        self.count += 1;
        if (word..=word + NEAR).contains(&self.next_word) {
            self.next_word = word;
        }
    }
}
