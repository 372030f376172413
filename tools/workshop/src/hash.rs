//! Tells versions of files apart.

/// The hash of Fowler, Noll and Vo: the same on every machine and for every
/// release of Rust, which std's doesn't promise.
pub struct Fnv(u64);

impl Fnv {
    /// The hash of nothing.
    pub fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// The hash of these bytes alone.
    pub fn of(bytes: &[u8]) -> String {
        let mut hash = Self::new();
        hash.add(bytes);
        hash.shown()
    }

    /// The hash in hexadecimal.
    pub fn shown(&self) -> String {
        format!("{:016x}", self.0)
    }

    /// Takes in more bytes, and where they end.
    pub fn add(&mut self, bytes: &[u8]) {
        let length = (bytes.len() as u64).to_le_bytes();
        for &byte in length.iter().chain(bytes) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
