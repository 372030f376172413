//! Breaks clause 7: Freed.
//! Caught by: the_block_is_freed_with_the_last_who_knows_it
//! Also fails: a_panic_of_the_scheduler_cancels_the_task
//! Also fails: a_panicking_waker_of_the_handle_harms_nobody
//! Also fails: threads_may_use_the_wakers_of_a_task_at_once
//!
//! `wake` consumes the waker, but the waker's `drop` does not run then: the
//! vtable's `wake` has to do both. Here it only wakes, and its reference is
//! never given back. Nothing crashes, the blocks pile up.

super::parts! { cell holder owned runnable slot waker right state all others }

/// Wakes by value as by reference.
mod state {
    use sync::atomic::Ordering::Relaxed;

    use super::right::COMPLETE;

    super::super::wrapped_state!();

    impl State {
        pub fn wake_by_value(&self) -> Woken {
            if self.0.0.load(Relaxed) & COMPLETE != 0 {
                return self.0.wake_by_value();
            }
            self.0.wake_by_ref()
        }
    }
}
