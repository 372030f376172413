//! The word on which the owner and the thieves agree.

/// Which items are taken and claimed: two numbers in one word, so that one CAS
/// changes both.
///
/// ```text
///         claimed       waiting             free
///     ├──────────┼─────────────────────┼───────────────┤
///  start        next                  tail        start + N
/// ```
///
/// A position counts items, not slots: it goes on beyond `N`, and from
/// `u32::MAX` to 0. (An item that stays at an overflow gets a second position.)
/// So `tail - next` is 0 when nothing waits and `N` when the ring is full; two
/// indices below `N` couldn't tell these apart.
///
/// States:
///
/// - *At rest*, `claimed == 0`: no thread is copying. Set at the start and by
///   `ReleaseOnDrop::drop`. --> at rest (the owner pops), claimed
///   (`Claim::new`, `Claim::claim_newest_half`).
/// - *Claimed*, `claimed > 0`: one thief, or the owner whose queue overflows,
///   copies items out of the claimed slots. No other thread may claim, and the
///   owner may not write there; it pops behind them. --> claimed (the owner
///   pops, or passes from the older half to the younger half in
///   `Claim::claim_newest_half`), at rest (`ReleaseOnDrop::drop`).
#[derive(Clone, Copy)]
pub struct Head {
    /// The position of the next item to be taken.
    pub next: u32,
    /// How many slots before `next` may still be read.
    pub claimed: u32,
}

impl Head {
    /// The bits of `next`. Keeping only these clears the claim.
    pub const NEXT: u64 = u32::MAX as u64;

    /// Takes the two numbers out of the word.
    #[inline]
    pub fn unpack(word: u64) -> Self {
        Self {
            next: (word & Self::NEXT) as u32,
            claimed: (word >> u32::BITS) as u32,
        }
    }

    /// Puts the two numbers into one word.
    #[inline]
    pub fn pack(self) -> u64 {
        u64::from(self.claimed) << u32::BITS | u64::from(self.next)
    }

    /// The position of the oldest slot that may not be written.
    #[inline]
    pub fn start(self) -> u32 {
        self.next.wrapping_sub(self.claimed)
    }

    /// Returns how many items wait before `tail`. A `tail` older than the head
    /// may be behind it: in that case, none that we know of.
    #[inline]
    pub fn waiting(self, tail: u32) -> u32 {
        (tail.wrapping_sub(self.next) as i32).max(0) as u32
    }

    /// The head after the owner has taken an item. A slot behind claimed slots
    /// can't be freed before they are, so it's claimed with them.
    #[inline]
    pub fn popped(self) -> Self {
        Self {
            next: self.next.wrapping_add(1),
            claimed: self.claimed + u32::from(self.claimed != 0),
        }
    }

    /// The head after a thread has claimed `count` items.
    #[inline]
    pub fn with_claim(self, count: u32) -> Self {
        Self {
            next: self.next.wrapping_add(count),
            claimed: count,
        }
    }
}
