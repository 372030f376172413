//! Wrong versions of the sleepers. Each has one part of its own, and the others from
//! the solution.

pub mod asks_before_it_leaves;
pub mod begins_asleep;
pub mod chooses_in_two_steps;
pub mod counts_in_bytes;
pub mod fence_before_the_count;
pub mod finds_and_keeps_quiet;
pub mod grows_as_they_sleep;
pub mod half_of_one_is_none;
pub mod is_the_last_before_it_lies_down;
pub mod looks_only_after_a_search;
pub mod looks_then_counts;
pub mod looks_whether_it_is_listed;
pub mod looks_without_a_fence;
pub mod moves_and_says_nothing;
pub mod one_more_than_half;
pub mod searches_once_it_is_up;
pub mod searches_whenever_it_is_up;
pub mod sleeps_and_searches;
pub mod sleeps_without_a_fence;
pub mod stays_on_the_list;
pub mod takes_and_leaves;
pub mod two_words_will_do;
pub mod wakes_for_every_push;

// Those that are written as edits of right versions.
include!(concat!(env!("OUT_DIR"), "/exercise_13.rs"));
