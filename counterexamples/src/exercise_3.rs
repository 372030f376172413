//! Wrong versions of the hand-made waker.

pub mod c04_wakes_by_value_instead;
pub mod clones_have_their_own_vtable;
pub mod copies_the_pointer;
pub mod counts_a_clone_twice;
pub mod counts_down_relaxed;
pub mod counts_in_two_steps;
pub mod drops_nothing;
pub mod empties_the_channel_first;
pub mod forgets_after_the_wake;
pub mod gives_back_after_the_wake;
pub mod holds_a_weak;
pub mod knows_its_targets_by_thread;
pub mod leaks_its_vtables;
pub mod leaks_what_it_sleeps_on;
pub mod looks_again_by_a_timer;
pub mod mixes_up_the_vtable;
pub mod notifies_without_the_lock;
pub mod numbers_its_targets;
pub mod one_wake_for_both;
pub mod reaches_into_the_arc;
pub mod sleeps_on_an_old_look;
pub mod takes_a_wake_up_for_the_end;
pub mod the_park_dies_with_the_call;
pub mod trusts_the_park_token;
pub mod wake_only_borrows;
pub mod wakes_when_it_is_dropped;

// Those that are written as edits of right versions.
include!(concat!(env!("OUT_DIR"), "/exercise_3.rs"));
