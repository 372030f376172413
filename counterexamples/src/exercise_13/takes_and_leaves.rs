//! Breaks clause 2: Whom to wake.
//! Caught by: each_sleeper_is_named_once
//! Also fails: two_hundred_and_fifty_six_can_sleep
//! Also fails: a_sleeper_is_named_when_work_comes
//! Also fails: who_sleeps_again_is_named_again
//! Also fails: who_gets_up_by_itself_is_busy
//! Also fails: who_got_up_can_sleep_again
//! Also fails: who_was_named_searches_when_it_is_up
//! Also fails: after_the_search_the_next_is_named
//! Also fails: a_notify_and_who_gets_up_agree
//! Also fails: as_many_workers_come_as_there_are_jobs
//! Also fails: jobs_that_a_worker_pushes_reach_the_others
//! Also fails: thousands_of_jobs_find_a_worker
//! Also fails: half_of_256_may_search_while_the_others_sleep
//! Also fails: any_of_256_gets_up_by_itself
//!
//! It finds out who sleeps; that this one is not to be found again is left to the
//! worker, when it is up. Until then it is named whenever anybody is.

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

    use Ordering::{Acquire, Relaxed};

    /// A set of workers. Who takes one out has it for itself.
    pub struct Names(Box<[AtomicU64]>);

    impl Names {
        /// Makes a set with room for so many workers.
        pub fn new(workers: usize) -> Self {
            let words = workers.div_ceil(u64::BITS as usize);
            Self((0..words).map(|_| AtomicU64::new(0)).collect())
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
                let bits = word.load(Acquire);
                let bit = bits.trailing_zeros() as usize;
                (bits != 0).then_some(at * u64::BITS as usize + bit)
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
