//! Breaks clause 1: Every task runs.
//! Caught by: models::a_task_from_outside_runs_in_every_order
//! Also fails: models::a_worker_that_falls_asleep_in_vain_is_not_taken_for_a_sleeper_in_whatever_order
//! Also fails: a_task_runs_though_all_workers_fall_asleep
//! Also fails: a_task_runs_wherever_it_was_spawned
//! Also fails: a_wake_up_during_a_poll_is_not_lost
//! Also fails: any_interval_will_do
//! Also fails: as_many_tasks_run_as_there_are_workers
//! Also fails: as_many_woken_tasks_run_as_there_are_workers
//! Also fails: destructors_may_spawn_and_wake_during_shutdown
//! Also fails: each_of_many_tasks_runs_once
//! Also fails: free_functions_find_their_runtime
//! Also fails: many_wake_ups_are_one_poll
//! Also fails: shutdown_drops_every_task
//! Also fails: sleeps_end_though_all_workers_sleep
//! Also fails: models::a_task_that_is_being_woken_is_dropped_in_whatever_order
//! Also fails: models::an_abort_ends_a_task_once_in_whatever_order
//! Also fails: models::every_task_runs_once_in_whatever_order
//! Also fails: models::every_wake_up_leads_to_one_poll_at_a_time_in_whatever_order
//! Also fails: models::no_task_waits_while_a_worker_sleeps_in_whatever_order
//! Also fails: models::of_three_tasks_from_outside_two_run_at_a_time_in_whatever_order
//! Also fails: models::two_runtimes_wake_one_another_in_whatever_order
//! Also fails: models::what_a_busy_worker_takes_is_shared_in_whatever_order
//! Also fails: models::what_comes_from_outside_is_shared_in_whatever_order
//!
//! A worker that has found nothing anywhere says that it sleeps, and parks. It
//! has looked just now, so why look again? Because a task that came after the
//! look and before the word found nobody asleep, and told nobody.

use ::{run_queue, task};

super::parts! {
    builder context end handle injector owner runtime search shared slot
    start worker models all others
}

mod sleepers {
    /// The solution's, but for the last look.
    pub struct Sleepers(::sleepers::Sleepers);

    impl Sleepers {
        pub fn new(workers: usize) -> Self {
            Self(::sleepers::Sleepers::new(workers))
        }

        pub fn notify(&self) -> Option<usize> {
            self.0.notify()
        }

        pub fn try_search(&self) -> bool {
            self.0.try_search()
        }

        pub fn found(&self) -> bool {
            self.0.found()
        }

        /// Returns `true` if the worker has to look again: it never has.
        pub fn sleep(&self, worker: usize, searching: bool) -> bool {
            let _is_last = self.0.sleep(worker, searching);
            false
        }

        pub fn wake(&self, worker: usize) -> bool {
            self.0.wake(worker)
        }
    }
}
