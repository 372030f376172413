//! Breaks clause 10: Abort.
//! Caught by: an_abort_during_a_poll_waits_for_its_end
//! Also fails: closing_the_list_cancels_the_tasks_that_wait
//! Also fails: a_task_that_waits_after_the_close_is_cancelled
//! Also fails: models::an_abort_ends_the_task_in_every_order
//! Also fails: models::no_task_slips_past_a_list_that_closes
//!
//! The flag of an abort is looked at when a poll begins. The task that was
//! polled at that moment is let go like any other, and nobody will ever wake
//! it: it waits for ever, with a future that was to be dropped.

super::parts! { cell holder owned runnable slot waker right state all others }

/// Looks only for wake-ups before it lets go.
mod state {
    use sync::atomic::Ordering::{Relaxed, Release};

    use super::right::{ACTIVE, NOTIFIED};

    super::super::wrapped_state!();

    impl State {
        pub fn let_go(&self) -> Pending {
            let mut state = self.0.0.load(Relaxed);
            while state & NOTIFIED == 0 {
                let exchanged = self.0.0.compare_exchange_weak(
                    state,
                    state & !ACTIVE,
                    Release,
                    Relaxed,
                );
                match exchanged {
                    Ok(_) => return Pending::Waits,
                    Err(found) => state = found,
                }
            }
            Pending::Notified
        }
    }
}
