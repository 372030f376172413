//! Breaks clause 3: When run.
//! Caught by: a_task_is_not_scheduled_while_it_is_polled
//! Also fails: a_handle_waits_for_the_end_of_an_aborted_task
//! Also fails: a_future_of_any_alignment_stays_in_its_place
//! Also fails: a_panic_of_the_future_reaches_the_handle
//! Also fails: a_panic_of_the_scheduler_cancels_the_task
//! Also fails: a_task_that_has_ended_is_never_polled_again
//! Also fails: a_wake_up_during_a_poll_is_not_lost
//! Also fails: an_abort_during_a_poll_waits_for_its_end
//! Also fails: each_run_polls_once
//! Also fails: future_and_output_are_dropped_once_whatever_happens
//! Also fails: models::the_future_goes_from_thread_to_thread_in_one_piece
//! Also fails: models::what_was_written_before_any_wake_up_is_seen
//! Also fails: the_scheduler_may_end_the_task_before_it_returns
//! Also fails: threads_may_use_the_wakers_of_a_task_at_once
//!
//! There is no state between waiting and scheduled: a wake-up of a task that is
//! held schedules it, once. That is right for one that is in no queue and on no
//! thread. The one that is polled goes to a second thread, and two hold the
//! future by `&mut`.

super::parts! { cell holder owned runnable slot waker right state all others }

/// Schedules at the first wake-up, whether or not somebody holds the task.
mod state {
    use sync::atomic::Ordering::{AcqRel, Relaxed};

    use super::right::{ACTIVE, COMPLETE, NOTIFIED};

    super::super::wrapped_state!();

    impl State {
        pub fn wake_by_ref(&self) -> Woken {
            let state = self.0.0.load(Relaxed);
            if state & ACTIVE == 0 || state & COMPLETE != 0 {
                return self.0.wake_by_ref();
            }
            match self.0.0.fetch_or(NOTIFIED, AcqRel) & NOTIFIED {
                0 => Woken::Schedule,
                _ => Woken::Nothing,
            }
        }
    }
}
