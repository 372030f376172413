//! Which workers are parked: a bit for each.

use primitives::atomic::{AtomicU64, Ordering};

use Ordering::{Acquire, Relaxed, Release};

/// A set of workers. Only one thread can take a given worker out.
///
/// *Memory ordering.* What happens before `take_any` happens before the
/// `contains` that misses the worker taken.
pub struct SleeperSet(Box<[AtomicU64]>);

impl SleeperSet {
    /// Makes a set with room for `workers` workers.
    pub fn new(workers: usize) -> Self {
        let words = workers.div_ceil(u64::BITS as usize);
        Self((0..words).map(|_| AtomicU64::new(0)).collect())
    }

    /// Adds a worker.
    pub fn insert(&self, worker: usize) {
        let (word, bit) = self.place(worker);
        // Relaxed: published with the count, by `add_sleeper`.
        word.fetch_or(bit, Relaxed);
    }

    /// Returns `true` if the worker is in the set.
    pub fn contains(&self, worker: usize) -> bool {
        let (word, bit) = self.place(worker);
        // Acquire: pairs with the Release in `take_any`; shows what was done
        // before this worker was chosen.
        word.load(Acquire) & bit != 0
    }

    /// Takes out this worker. Returns `false` if it isn't in the set.
    pub fn take(&self, worker: usize) -> bool {
        let (word, bit) = self.place(worker);
        // Acquire: as in `contains`, if another thread took it out.
        word.fetch_and(!bit, Acquire) & bit != 0
    }

    /// Takes out the first worker, if there is one.
    pub fn take_any(&self) -> Option<usize> {
        (0..).zip(&self.0).find_map(|(at, word)| {
            // Relaxed: only a guess; the compare-exchange decides.
            let mut bits = word.load(Relaxed);
            while bits != 0 {
                let first = bits & bits.wrapping_neg();
                // Release: pairs with the Acquire in `contains` and `take`.
                bits = word.fetch_and(!first, Release);
                if bits & first != 0 {
                    let bit = first.trailing_zeros() as usize;
                    return Some(at * u64::BITS as usize + bit);
                }
            }
            None
        })
    }

    fn place(&self, worker: usize) -> (&AtomicU64, u64) {
        let bits = u64::BITS as usize;
        (&self.0[worker / bits], 1 << (worker % bits))
    }
}
