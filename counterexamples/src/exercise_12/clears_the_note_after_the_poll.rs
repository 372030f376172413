//! Breaks clause 5: No lost wake-up.
//! Caught by: a_wake_up_during_a_poll_is_not_lost
//! Also fails: a_future_of_any_alignment_stays_in_its_place
//! Also fails: a_panic_of_the_future_reaches_the_handle
//! Also fails: a_panic_of_the_scheduler_cancels_the_task
//! Also fails: a_task_is_not_scheduled_while_it_is_polled
//! Also fails: each_run_polls_once
//! Also fails: future_and_output_are_dropped_once_whatever_happens
//! Also fails: models::a_wake_up_counts_in_every_order
//! Also fails: models::the_future_goes_from_thread_to_thread_in_one_piece
//! Also fails: models::what_was_written_before_any_wake_up_is_seen
//! Also fails: running_waking_and_awaiting_allocate_nothing
//! Also fails: thousands_of_wake_ups_from_another_thread_all_arrive
//!
//! Whoever lets go of the task clears the note, as one tidies up at the end.
//! The wake-up that left it came while the future was polled, after that had
//! looked; it was meant for the next poll, and there is none.

super::parts! { cell holder owned runnable slot waker right state all others }

/// Clears the note when the task is let go, not when the poll begins.
mod state {
    use sync::atomic::Ordering::{Acquire, Relaxed, Release};

    use super::right::{ACTIVE, CANCELLED, NOTIFIED};

    super::super::wrapped_state!();

    impl State {
        pub fn begin(&self) -> Turn {
            match self.0.0.load(Acquire) & CANCELLED {
                0 => Turn::Poll,
                _ => Turn::Cancel,
            }
        }

        pub fn let_go(&self) -> Pending {
            let mut state = self.0.0.load(Relaxed);
            while state & CANCELLED == 0 {
                let exchanged = self.0.0.compare_exchange_weak(
                    state,
                    state & !(ACTIVE | NOTIFIED),
                    Release,
                    Relaxed,
                );
                match exchanged {
                    Ok(_) => return Pending::Waits,
                    Err(found) => state = found,
                }
            }
            Pending::Cancelled
        }
    }
}
