//! Wrong versions of `block_on`.

pub mod busy_polls;
pub mod c03_announces_its_sleep_after_its_look;
pub mod c03_lets_go_between_look_and_wait;
pub mod c03_notifies_before_it_sets_the_flag;
pub mod c03_notifies_without_the_lock;
pub mod c06_moves_the_future_away_and_back;
pub mod clears_flag_after_poll;
pub mod first_poll_only_registers;
pub mod forgets_the_future;
pub mod gives_up_early;
pub mod moves_the_future;
pub mod polls_by_timer;
pub mod polls_twice_to_be_sure;
pub mod rouses_only_sleepers;
pub mod shares_one_signal;
pub mod unparks_the_waking_thread;
pub mod waits_for_room;
pub mod waker_dies_with_the_call;

// Those that are written as edits of right versions.
include!(concat!(env!("OUT_DIR"), "/exercise_1.rs"));
