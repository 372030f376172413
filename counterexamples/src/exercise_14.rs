//! Wrong versions of the work-stealing runtime. Each has one part of its own, and
//! the others from the solution.
#![allow(
    dead_code,
    unexpected_cfgs,
    reason = "the other parts have what the right one needs, and a feature"
)]

pub mod aborts_at_the_next_poll;
pub mod always_the_next_one;
pub mod any_worker_will_do;
pub mod asks_only_before_the_push;
pub mod blocks_its_own_worker;
pub mod carries_in_silence;
pub mod counts_what_was_queued;
pub mod drains_the_rest_too;
pub mod drops_what_is_queued;
pub mod ends_without_a_fence;
pub mod finds_and_keeps_quiet;
pub mod forgets_what_it_took;
pub mod has_a_cap_of_its_own;
pub mod is_never_in_a_task_again;
pub mod jobs_know_no_runtime;
pub mod joins_itself;
pub mod keeps_its_first_waker;
pub mod keeps_what_it_has;
pub mod leaves_for_nowhere;
pub mod leaves_with_the_runtime;
pub mod lets_jobs_go;
pub mod looks_every_millisecond;
pub mod looks_outside_when_idle;
pub mod names_nobody;
pub mod polls_for_each_wake_up;
pub mod queues_after_the_end;
pub mod reads_the_clock_once;
pub mod stays_blocked_after_a_panic;
pub mod yields_to_itself;
