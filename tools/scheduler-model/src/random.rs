//! Marsaglia's xorshift, with 32 bits.

/// The same numbers for the same seed.
pub struct Random {
    state: u32,
}

impl Random {
    /// Begins with what `seed` gives.
    pub fn new(seed: u32) -> Self {
        let state = seed.wrapping_add(1).wrapping_mul(0x9E37_79B1);
        // Zero would stay zero.
        Self {
            state: if state == 0 { 1 } else { state },
        }
    }

    /// Returns a number below `limit`.
    pub fn below(&mut self, limit: u32) -> u32 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 17;
        self.state ^= self.state << 5;
        self.state % limit
    }

    /// Returns a length that is up to a fifth less or more than `length`.
    pub fn about(&mut self, length: u32) -> u32 {
        let fifth = length / 5;
        length - fifth + self.below(2 * fifth + 1)
    }
}
