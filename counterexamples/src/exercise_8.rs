//! Wrong versions of the budget.

pub mod asks_the_budget_again;
pub mod begins_when_it_is_made;
pub mod begins_with_the_last_stride;
pub mod clears_the_outer_budget;
pub mod continues_the_last_slice;
pub mod forgets_the_panic;
pub mod gives_everybody_a_budget;
pub mod guesses_the_end;
pub mod halves_its_stride;
pub mod ignores_the_inner_budget;
pub mod keeps_a_stack;
pub mod knows_no_longest_stride;
pub mod leaves_its_budget_behind;
pub mod never_forgets_a_dear_item;
pub mod one_budget_for_all_threads;
pub mod one_countdown_for_all;
pub mod overflows_the_clock;
pub mod reads_the_clock_at_each_poll;
pub mod reads_the_clock_each_time;
pub mod replaces_the_panic;
pub mod starts_anew_when_it_yields;
pub mod strides_by_a_fixed_number;
pub mod strides_for_a_fixed_time;
pub mod takes_the_future_out;
pub mod the_inner_budget_replaces;
pub mod trusts_the_cheap_items;
pub mod wakes_nobody;
pub mod wakes_the_task_only;

// Those that are written as edits of right versions.
include!(concat!(env!("OUT_DIR"), "/exercise_8.rs"));
