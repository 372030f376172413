//! Breaks clause 3: One is enough.
//! Caught by: models::of_two_that_notify_one_names
//! Also fails: models::a_notify_that_is_overtaken_names_one_that_sleeps
//! Also fails: models::a_searcher_that_sleeps_as_the_search_ends_sees_what_comes
//! Also fails: models::a_worker_that_sleeps_as_the_search_ends_sees_what_comes
//! Also fails: models::work_that_comes_as_the_search_ends_wakes_the_next
//! Also fails: models::a_worker_that_sleeps_for_a_moment_and_a_notify_agree
//!
//! Nobody searches and one sleeps: so count that one as a searcher. Two threads that
//! push at the same time see the same and do the same. If two sleep, both are woken;
//! if one does, the second thread looks for a sleeper that is not there.

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
            let is_right = self.should_wake_one();
            if is_right {
                self.0.fetch_add(SEARCHING - ASLEEP, Acquire);
            }
            is_right
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
        searching(counts) == 0 && asleep(counts) > 0
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/13-sleepers/src/models.rs"]
mod models;
