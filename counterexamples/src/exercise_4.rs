//! Wrong versions of the cached `block_on`.

pub mod already_borrowed;
pub mod announces_its_sleep_too_late;
pub mod asks_who_polls;
pub mod c03_a_second_wake_publishes_nothing;
pub mod c06_moves_the_future_away_and_back;
pub mod clears_the_outer_flag;
pub mod counts_wake_ups;
pub mod does_not_put_back;
pub mod ends_with_the_thread;
pub mod forgets_the_future;
pub mod gives_up_on_the_busy;
pub mod keeps_the_flag_set;
pub mod leaks_the_parker;
pub mod leaves_a_wake_up_noted;
pub mod leaves_two_marks;
pub mod marked_after_a_panic;
pub mod one_cache_for_all_threads;
pub mod one_call_at_a_time;
pub mod one_plain_flag_for_all;
pub mod overwrites_the_other_flag;
pub mod panics_at_thread_exit;
pub mod shares_the_parker;
pub mod sleeps_by_the_threads_token;
pub mod swaps_for_itself;
pub mod unmarks_too_early;
pub mod unparks_only_sleepers;

// Those that are written as edits of right versions.
include!(concat!(env!("OUT_DIR"), "/exercise_4.rs"));
