//! How many workers are parked, and how many search: two counts in one word, so
//! that one step looks at both and changes both.

use primitives::atomic::{AtomicU32, Ordering};

use Ordering::{Acquire, Relaxed, Release};

use super::Activity;

/// One more sleeper. Their number is in the lower half of the word.
const PARKED: u32 = 1;
/// One more searcher. Their number is in the upper half.
const SEARCHING: u32 = 1 << 16;
/// The largest number of workers that each half can count.
pub const MOST_WORKERS: usize = SEARCHING as usize - 1;

/// The two counts.
///
/// A sleeper is counted after it is listed, and taken off the count before it
/// is taken off the list. So a thread that has taken one off the count finds
/// one on the list.
///
/// *Memory ordering.* The fences in [`Sleepers`](super::Sleepers) order the
/// counts and the queues. Two other things must be visible along with a count:
/// the list of the sleepers, by `add_sleeper` and `choose_sleeper`, and what a
/// searcher has done before its `end_search`, by a later one's and the fence
/// behind it.
///
/// Looking at the counts and changing them is one step. Models:
/// `of_two_that_notify_one_names`, `of_two_that_ask_one_may_search`,
/// `of_two_that_find_work_one_is_the_last`,
/// `of_two_searchers_that_leave_one_is_the_last`.
///
/// All workers read this at every push, so it has a cache line to itself. (Two
/// lines: some processors fetch them in pairs.)
#[repr(align(128))]
pub struct Counts(AtomicU32);

impl Counts {
    /// All are busy.
    pub fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Returns `true` if one is parked and none searches.
    #[inline]
    pub fn should_notify(&self) -> bool {
        // Relaxed: the fence before it, in `notify`, orders it.
        should_notify(self.0.load(Relaxed))
    }

    // ANCHOR: choose
    /// If one is parked and none searches, makes a sleeper a searcher.
    pub fn choose_sleeper(&self) -> bool {
        let choose =
            |counts| should_notify(counts).then(|| counts - PARKED + SEARCHING);
        // Acquire: pairs with the Release in `add_sleeper`; shows which workers
        // are listed.
        self.0.fetch_update(Acquire, Relaxed, choose).is_ok()
    }
    // ANCHOR_END: choose

    /// If fewer than `most` search, makes a busy worker a searcher.
    pub fn begin_search(&self, most: u32) -> bool {
        let begin =
            |counts| (searching(counts) < most).then_some(counts + SEARCHING);
        // Relaxed: if a search misses what comes just now, the worker that ends
        // the last search makes up for it.
        self.0.fetch_update(Relaxed, Relaxed, begin).is_ok()
    }

    /// Makes a searcher busy. Returns `true` if none searches anymore.
    pub fn end_search(&self) -> bool {
        // Release: pairs with the fence of the worker that ends the last
        // search; shows what this one has taken into its own queue. Whether the
        // caller sees the last pushes is left to the caller's fence, its own or
        // that in `notify`.
        // Models: `the_last_look_sees_what_another_searcher_has_moved`,
        // `a_look_at_the_end_of_the_search_sees_what_another_searcher_has_moved`.
        let before = self.0.fetch_sub(SEARCHING, Release);
        debug_assert!(searching(before) > 0, "found, and none searches");
        searching(before) == 1
    }

    /// Counts one more sleeper, and one searcher less if it was one. Returns
    /// `true` if none searches now.
    pub fn add_sleeper(&self, was: Activity) -> bool {
        let no_more = match was {
            Activity::Busy => 0,
            Activity::Searching => SEARCHING,
        };
        let change = PARKED.wrapping_sub(no_more);
        // Release: pairs with the Acquire in `choose_sleeper`; shows that the
        // worker is listed.
        let before = self.0.fetch_add(change, Release);
        debug_assert!(before >= no_more, "it parks, and didn't search");
        searching(before.wrapping_add(change)) == 0
    }

    /// Counts one sleeper less, if there is one.
    pub fn try_remove_sleeper(&self) -> bool {
        // Relaxed: the caller only looks for itself, and has listed itself.
        let remove = |counts| (parked(counts) > 0).then(|| counts - PARKED);
        self.0.fetch_update(Relaxed, Relaxed, remove).is_ok()
    }

    /// Reverts a `try_remove_sleeper`.
    pub fn restore_sleeper(&self) {
        // Relaxed: the worker that it counts was listed before its
        // `add_sleeper`.
        self.0.fetch_add(PARKED, Relaxed);
    }
}

fn parked(counts: u32) -> u32 {
    counts % SEARCHING
}

fn searching(counts: u32) -> u32 {
    counts / SEARCHING
}

fn should_notify(counts: u32) -> bool {
    searching(counts) == 0 && parked(counts) > 0
}
