//! Breaks clause 10: Abort.
//! Caught by: an_abort_ends_a_task_that_waits_or_is_queued
//! Also fails: an_abort_during_a_poll_that_yields_counts
//! Also fails: a_handle_waits_for_the_end_of_an_aborted_task
//! Also fails: an_abort_during_a_poll_waits_for_its_end
//! Also fails: closing_the_list_cancels_the_tasks_that_wait
//! Also fails: future_and_output_are_dropped_once_whatever_happens
//! Also fails: models::a_task_may_end_while_the_list_closes
//! Also fails: models::an_abort_ends_the_task_in_every_order
//! Also fails: models::no_task_slips_past_a_list_that_closes
//! Also fails: closing_the_list_finds_each_of_many_tasks
//!
//! Whoever aborts a task gets hold of it, and schedules it for its end. But a
//! task that is queued or polled has a holder. Now it has two, and both will
//! touch the future, at the same time perhaps.

super::parts! { cell holder owned runnable slot waker right state all others }

/// Holds what it aborts.
mod state {
    use sync::atomic::Ordering::{AcqRel, Relaxed};

    use super::right::{ACTIVE, CANCELLED, COMPLETE};

    super::super::wrapped_state!();

    impl State {
        pub fn abort(&self) -> Woken {
            let mut state = self.0.0.load(Relaxed);
            while state & (COMPLETE | CANCELLED) == 0 {
                let exchanged = self.0.0.compare_exchange_weak(
                    state,
                    state | CANCELLED | ACTIVE,
                    AcqRel,
                    Relaxed,
                );
                match exchanged {
                    Ok(_) => return Woken::Schedule,
                    Err(found) => state = found,
                }
            }
            Woken::Nothing
        }
    }
}
