//! Breaks clause 8: Any number.
//! Caught by: two_hundred_and_fifty_six_can_sleep
//! Also fails: half_of_256_may_search_while_the_others_sleep
//! Also fails: any_of_256_gets_up_by_itself
//! Tells: half_of_256_may_search_while_the_others_sleep
//!
//! A byte has 256 values, so it can count 256 workers. It cannot: it counts from none
//! to 255. The 256th sleeper is carried into the next count, and searches.

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

    /// One more that sleeps. Their number is in the lowest byte.
    const ASLEEP: u32 = 1;
    /// One more that searches. Their number is above it.
    const SEARCHING: u32 = 1 << 8;
    /// As many as a byte has values.
    pub const MOST_WORKERS: usize = SEARCHING as usize;

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
        searching(counts) == 0 && asleep(counts) > 0
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/13-sleepers/src/tests.rs"]
mod tests;
