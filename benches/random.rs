//! Random numbers for samples and orders, where a phase would show.

use std::process;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A generator of pseudorandom numbers: xorshift64 (Marsaglia, 2003).
pub struct Random(u64);

impl Random {
    /// Starts a sequence of its own for each call and each process, so that no two
    /// rounds repeat the same distances.
    pub fn of_a_round() -> Self {
        static ROUND: AtomicU64 = AtomicU64::new(0);
        // Relaxed: it is only a number.
        let round = ROUND.fetch_add(1, Relaxed);
        Self::new((u64::from(process::id()) << 32) + round)
    }

    /// Starts a sequence that depends on `seed` only.
    pub fn new(seed: u64) -> Self {
        // Zero is the one state that xorshift never leaves.
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns the next number.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number from 0 to 1, without 1.
    pub fn fraction(&mut self) -> f64 {
        // So many bits fit into the mantissa.
        (self.number() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Puts `items` in a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.number() as usize % (end + 1));
        }
    }
}
