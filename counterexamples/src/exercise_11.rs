//! Wrong versions of the run queue. Most replace one part of the solution.

pub mod boxes_its_items;
pub mod c06_a_full_thief_keeps_its_turn;
pub mod c06_moves_into_slots_that_are_being_read;
pub mod c09_looks_at_its_own_head_relaxed;
pub mod claims_one_by_one;
pub mod claims_relaxed;
pub mod compares_positions;
pub mod counts_the_held_as_free;
pub mod derives_its_clone;
pub mod drops_without_a_claim;
pub mod forgets_its_room;
pub mod frees_with_the_claim;
pub mod gives_away_one;
pub mod gives_back_relaxed;
pub mod gives_the_next_one;
pub mod ignores_a_lost_race;
pub mod keeps_one_slot_free;
pub mod knows_no_old_tail;
pub mod leaks_after_a_panic;
pub mod leaks_what_is_left;
pub mod lets_the_oldest_overflow;
pub mod lets_two_thieves_in;
pub mod looks_at_the_tail_first;
pub mod looks_at_the_tail_relaxed;
pub mod moves_its_tail_back;
pub mod overflows_relaxed;
pub mod pops_by_a_store;
pub mod pops_relaxed;
pub mod pops_the_newest;
pub mod publishes_before_it_writes;
pub mod puts_back_relaxed;
pub mod reads_from_the_end;
pub mod reuses_a_slot_too_early;
pub mod rounds_down;
pub mod sends_anything;
pub mod shares_the_owner;
pub mod stays_for_ever;
pub mod steals_one;
pub mod stores_the_tail_relaxed;
pub mod takes_all_and_puts_half_back;
pub mod waits_for_the_other_thief;

// Those that are written as edits of right versions.
include!(concat!(env!("OUT_DIR"), "/exercise_11.rs"));
