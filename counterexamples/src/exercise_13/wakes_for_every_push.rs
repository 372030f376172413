//! Breaks clause 3: One is enough.
//! Caught by: nobody_is_named_while_one_searches
//! Also fails: the_one_that_was_named_is_of_the_half
//! Also fails: several_threads_keep_to_the_half
//! Also fails: who_is_named_counts_as_searching
//! Also fails: a_notify_and_who_gets_up_agree
//! Also fails: as_many_workers_come_as_there_are_jobs
//! Also fails: jobs_that_a_worker_pushes_reach_the_others
//! Also fails: thousands_of_jobs_find_a_worker
//! Also fails: half_of_256_may_search_while_the_others_sleep
//!
//! There is work and one sleeps, so wake it. For ten tasks ten workers get up, and all
//! of them search the same queues. Most find nothing, and go to bed again.

#[path = "../../../solutions/13-sleepers/src/names.rs"]
mod names;
#[path = "../../../solutions/13-sleepers/src/notify.rs"]
mod notify;
#[path = "../../../solutions/13-sleepers/src/search.rs"]
mod search;
#[path = "../../../solutions/13-sleepers/src/sleep.rs"]
mod sleep;
#[path = "../../../solutions/13-sleepers/src/sleepers.rs"]
mod sleepers;

pub use sleepers::Sleepers;

mod counts {
    use sync::atomic::{AtomicU32, Ordering};

    use Ordering::{Acquire, Relaxed, Release};

    /// One more that sleeps. Their number is in the lower half of the word.
    const ASLEEP: u32 = 1;
    /// One more that searches. Their number is in the upper half.
    const SEARCHING: u32 = 1 << 16;
    /// The largest number of workers that each half can count.
    pub const MOST_WORKERS: usize = SEARCHING as usize - 1;

    /// How many sleep, and how many search.
    #[repr(align(128))]
    pub struct Counts(AtomicU32);

    impl Counts {
        /// All are busy.
        pub fn new() -> Self {
            Self(AtomicU32::new(0))
        }

        /// Returns `true` if one sleeps and none searches.
        #[inline]
        pub fn should_wake_one(&self) -> bool {
            // Relaxed: the fence before it, in `notify`, orders it.
            should_wake_one(self.0.load(Relaxed))
        }

        /// If one sleeps and none searches, makes one of the sleepers a searcher.
        pub fn choose_one(&self) -> bool {
            let choose = |counts| {
                should_wake_one(counts).then(|| counts - ASLEEP + SEARCHING)
            };
            // Acquire: pairs with the Release in `fall_asleep`; shows who is
            // listed.
            self.0.fetch_update(Acquire, Relaxed, choose).is_ok()
        }

        /// If fewer than `most` search, makes one that is busy a searcher.
        pub fn begin_search(&self, most: u32) -> bool {
            let begin = |counts| {
                (searching(counts) < most).then_some(counts + SEARCHING)
            };
            // Relaxed: a search that misses what comes just now is made good by
            // the one who ends the last search.
            self.0.fetch_update(Relaxed, Relaxed, begin).is_ok()
        }

        /// Makes a searcher busy. Returns `true` if none searches any more.
        pub fn end_search(&self) -> bool {
            // Release: pairs with the fence of whoever ends the last search;
            // shows what this one has taken into its own queue. Whether the
            // caller sees the last pushes is left to the fence in the `notify`
            // that follows.
            let before = self.0.fetch_sub(SEARCHING, Release);
            debug_assert!(searching(before) > 0, "found, and nobody searches");
            searching(before) == 1
        }

        /// Counts one more that sleeps, and one less that searches if it did.
        /// Returns `true` if none searches now.
        pub fn fall_asleep(&self, did_search: bool) -> bool {
            let no_more = if did_search { SEARCHING } else { 0 };
            let change = ASLEEP.wrapping_sub(no_more);
            // Release: pairs with the Acquire in `choose_one`; shows that the
            // worker is listed.
            let before = self.0.fetch_add(change, Release);
            debug_assert!(before >= no_more, "it sleeps, and did not search");
            searching(before.wrapping_add(change)) == 0
        }

        /// Counts one less that sleeps, if one does.
        pub fn get_up(&self) -> bool {
            // Relaxed: the caller looks for itself only, and listed itself.
            let get_up = |counts| (asleep(counts) > 0).then(|| counts - ASLEEP);
            self.0.fetch_update(Relaxed, Relaxed, get_up).is_ok()
        }

        /// Takes a `get_up` back.
        pub fn lie_down(&self) {
            // Relaxed: whoever it counts was listed before, by somebody's
            // `fall_asleep`.
            self.0.fetch_add(ASLEEP, Relaxed);
        }
    }

    fn asleep(counts: u32) -> u32 {
        counts % SEARCHING
    }

    fn searching(counts: u32) -> u32 {
        counts / SEARCHING
    }

    fn should_wake_one(counts: u32) -> bool {
        asleep(counts) > 0
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/13-sleepers/src/tests.rs"]
mod tests;
