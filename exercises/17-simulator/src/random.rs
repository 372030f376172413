//! The only source of chance: a seed.

use std::ops::Range;
use std::time::Duration;

/// Numbers that look random, and that the seed determines: SplitMix64, by
/// Steele, Lea and Flood.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Creates a generator. Equal seeds give equal numbers, on every machine.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns the next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Returns a number from 0 to `limit - 1`.
    ///
    /// # Panics
    ///
    /// If `limit` is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        assert!(limit > 0, "there is no number below 0");
        let product = u128::from(self.bits()) * u128::from(limit);
        (product >> 64) as u64
    }

    /// Returns `true` once in `count` calls, on average.
    pub fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    /// Returns a duration in `range`, in whole microseconds.
    pub fn duration(&mut self, range: Range<Duration>) -> Duration {
        let width = range.end.saturating_sub(range.start).as_micros();
        let micros = self.below((width as u64).max(1));
        range.start + Duration::from_micros(micros)
    }
}
