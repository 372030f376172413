//! Breaks clause 8: Any number.
//! Caught by: two_hundred_and_fifty_six_can_sleep
//! Also fails: as_many_workers_come_as_there_are_jobs
//! Also fails: jobs_that_a_worker_pushes_reach_the_others
//! Also fails: half_of_256_may_search_while_the_others_sleep
//! Also fails: any_of_256_gets_up_by_itself
//!
//! No machine has more than 128 cores. Some have; and there may be more workers than
//! cores. Whatever the limit is, `new` has to say so, and not the worker that falls
//! asleep first.

#[path = "../../../solutions/13-sleepers/src/counts.rs"]
mod counts;
#[path = "../../../solutions/13-sleepers/src/notify.rs"]
mod notify;
#[path = "../../../solutions/13-sleepers/src/search.rs"]
mod search;
#[path = "../../../solutions/13-sleepers/src/sleep.rs"]
mod sleep;
#[path = "../../../solutions/13-sleepers/src/sleepers.rs"]
mod sleepers;

pub use sleepers::Sleepers;

mod names {
    use sync::atomic::{AtomicU64, Ordering};

    use Ordering::{Acquire, Relaxed, Release};

    /// A set of workers. Who takes one out has it for itself.
    pub struct Names([AtomicU64; 2]);

    impl Names {
        /// Makes a set with room for so many workers.
        pub fn new(_workers: usize) -> Self {
            Self([AtomicU64::new(0), AtomicU64::new(0)])
        }

        /// Adds a worker.
        pub fn insert(&self, worker: usize) {
            let (word, bit) = self.place(worker);
            // Relaxed: published with the count, by `fall_asleep`.
            word.fetch_or(bit, Relaxed);
        }

        /// Returns `true` if the worker is in the set.
        pub fn contains(&self, worker: usize) -> bool {
            let (word, bit) = self.place(worker);
            // Acquire: pairs with the Release in `take_any`; shows what was
            // done before this worker was chosen.
            word.load(Acquire) & bit != 0
        }

        /// Takes out this worker. Returns `false` if it is not in the set.
        pub fn take(&self, worker: usize) -> bool {
            let (word, bit) = self.place(worker);
            // Acquire: as in `contains`, if it was taken out by somebody else.
            word.fetch_and(!bit, Acquire) & bit != 0
        }

        /// Takes out one worker, if it finds one: the first.
        pub fn take_any(&self) -> Option<usize> {
            (0..).zip(&self.0).find_map(|(at, word)| {
                // Relaxed: only a guess; the exchange decides.
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
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/13-sleepers/src/tests.rs"]
mod tests;
