//! Wrong versions of the pool with one queue. Each replaces one part of the
//! solution, and has the others as they are.

pub mod asks_before_it_enters;
pub mod assigns_over_the_future;
pub mod calls_a_panic_cancelled;
pub mod catches_only_the_poll;
pub mod dies_of_a_panic;
pub mod drains_the_queue;
pub mod drops_under_the_lock;
pub mod ends_with_its_handle;
pub mod forgets_a_wake_up_during_the_poll;
pub mod forgets_who_waits;
pub mod holds_the_receiver;
pub mod joins_itself;
pub mod joins_nobody;
pub mod knows_only_that_it_works;
pub mod looks_every_millisecond;
pub mod looks_then_sleeps;
pub mod makes_spawners_wait;
pub mod polls_after_the_end;
pub mod polls_again_at_once;
pub mod polls_in_two_places;
pub mod pushes_where_it_stands;
pub mod puts_it_back_to_wait;
pub mod queues_each_wake_up;
pub mod raises_the_flag_without_the_lock;
pub mod rings_once_for_each_poll;
pub mod takes_in_late_tasks;
pub mod tells_before_it_drops;
pub mod waits_at_the_tasks_lock;
pub mod waits_in_the_handles_poll;
pub mod wakes_for_the_first_only;
pub mod wakes_nobody_from_a_worker;
pub mod wakes_to_the_front;

// Those that are written as edits of right versions.
include!(concat!(env!("OUT_DIR"), "/exercise_10.rs"));
