//! Wrong versions of the yield and of the counter.

pub mod boxes_each_tick;
pub mod clones_the_waker_at_each_tick;
pub mod compares_before_it_counts;
pub mod counts_for_the_whole_thread;
pub mod counts_polls;
pub mod does_not_keep_the_count;
pub mod forgets_that_it_yielded;
pub mod keeps_the_waker;
pub mod leaves_waking_to_the_next;
pub mod misses_its_beat;
pub mod never_wakes;
pub mod notes_the_turn_in_the_call;
pub mod one_flag_a_thread;
pub mod overflows_a_byte;
pub mod polls_until_it_is_ready;
pub mod turns_the_flag_over;
pub mod wakes_and_is_ready;
pub mod wakes_in_each_poll;
pub mod wakes_twice_to_be_sure;
pub mod wants_the_same_waker;
pub mod yields_at_the_first_tick;
pub mod yields_at_the_last_but_one;
pub mod yields_the_thread;

// Those that are written as edits of right versions.
include!(concat!(env!("OUT_DIR"), "/exercise_7.rs"));
