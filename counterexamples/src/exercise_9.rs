//! Wrong versions of the local executor: most replace one part of the solution.

pub mod announced_for_good;
pub mod c08_compares_the_data_of_wakers;
pub mod c12_searches_from_the_youngest;
pub mod cancels_nobody;
pub mod catches_only_the_poll;
pub mod closes_without_the_lock;
pub mod completes_before_it_drops;
pub mod drops_while_borrowed;
pub mod forgets_who_runs;
pub mod inbox_when_idle;
pub mod keeps_its_future;
pub mod keeps_the_first_waker;
pub mod knows_places_only;
pub mod last_in_first_out;
pub mod leaves_it_in_its_place;
pub mod looks_at_the_mark_first;
pub mod looks_now_and_then;
pub mod looks_then_registers;
pub mod mark_left_behind;
pub mod never_closes;
pub mod nobody_home_at_the_end;
pub mod one_flag_for_all;
pub mod panics_pass;
pub mod polls_in_spawn;
pub mod polls_while_borrowed;
pub mod queues_each_wake;
pub mod root_when_idle;
pub mod rouses_nobody;
pub mod run_until_quiet;
pub mod scans_for_flags;
pub mod takes_the_hint_back_late;
pub mod unmarks_after_the_poll;
pub mod wakers_own_the_task;
pub mod wakes_only_who_runs;
pub mod wakes_under_the_lock;

// Those that are written as edits of right versions.
include!(concat!(env!("OUT_DIR"), "/exercise_9.rs"));
