//! Breaks clause 7: Freed.
//! Caught by: models::the_last_reference_frees_the_block_in_every_order
//! Also fails: models::a_handle_that_changes_its_waker_is_woken_in_every_order
//! Also fails: models::the_output_is_dropped_once_when_the_handle_goes_as_the_task_ends
//!
//! A count is only a number, one thinks, and `fetch_sub` is atomic whatever the
//! ordering. But whoever brings it to zero frees the block, and what the others
//! did to the block before they gave theirs back must have happened by then.

super::parts! { cell holder owned runnable slot waker right state all others }

/// Gives a reference back without any order.
mod state {
    use sync::atomic::Ordering::Relaxed;

    use super::right::REFERENCE;

    super::super::wrapped_state!();

    impl State {
        pub fn release(&self) -> bool {
            self.0.0.fetch_sub(REFERENCE, Relaxed) / REFERENCE == 1
        }
    }
}
