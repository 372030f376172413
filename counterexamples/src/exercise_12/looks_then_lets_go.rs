//! Breaks clause 5: No lost wake-up.
//! Caught by: models::a_wake_up_counts_in_every_order
//! Also fails: thousands_of_wake_ups_from_another_thread_all_arrive
//! Also fails: models::an_abort_ends_the_task_in_every_order
//! Also fails: models::no_task_slips_past_a_list_that_closes
//! Also fails: models::the_future_goes_from_thread_to_thread_in_one_piece
//! Also fails: models::what_was_written_before_any_wake_up_is_seen
//!
//! Two steps where one is needed: look for the note, then clear the flag. A
//! wake-up between the two finds a holder, leaves its note and goes; and the
//! holder has looked already.

super::parts! { cell holder owned runnable slot waker right state all others }

/// Looks whether there is a reason to hold the task, and lets go of it.
mod state {
    use sync::atomic::Ordering::{Relaxed, Release};

    use super::right::{ACTIVE, CANCELLED, NOTIFIED};

    super::super::wrapped_state!();

    impl State {
        // ANCHOR: bug
        pub fn let_go(&self) -> Pending {
            let state = self.0.0.load(Relaxed);
            if state & CANCELLED != 0 {
                return Pending::Cancelled;
            }
            if state & NOTIFIED != 0 {
                return Pending::Notified;
            }
            self.0.0.fetch_and(!ACTIVE, Release);
            Pending::Waits
        }
        // ANCHOR_END: bug
    }
}
