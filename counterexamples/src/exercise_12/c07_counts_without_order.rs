//! Breaks clause 7: Freed.
//! Caught by: models::the_last_reference_frees_the_block_in_every_order
//! Also fails: models::a_handle_that_changes_its_waker_is_woken_in_every_order
//! Also fails: models::the_output_is_dropped_once_when_the_handle_goes_as_the_task_ends
//!
//! Future and output went with the end, so that nothing in the block is looked
//! at when it is freed, and the count orders nothing. But what other threads
//! did to the block may then come after that, when its memory is another's.

#[path = "../../../solutions/12-task/src/state.rs"]
#[allow(dead_code, reason = "some of it is replaced")]
mod ordered;
super::parts! { holder owned runnable slot waker right cell all others }

/// Gives a reference back without any order.
mod state {
    use sync::atomic::Ordering::Relaxed;

    pub use super::ordered::{Completed, Detached, Pending, Turn, Woken};
    use super::ordered::{REFERENCE, State as Ordered};

    pub struct State(Ordered);

    impl State {
        pub fn new() -> Self {
            Self(Ordered::new())
        }

        pub fn release(&self) -> bool {
            self.0.0.fetch_sub(REFERENCE, Relaxed) / REFERENCE == 1
        }
    }

    impl std::ops::Deref for State {
        type Target = Ordered;

        fn deref(&self) -> &Ordered {
            &self.0
        }
    }
}

/// Frees the block without a look at it.
mod cell {
    use super::memory;

    super::super::with_vtable!(free);

    unsafe fn free<F, S>(task: NonNull<Header>)
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
        S: Schedule,
    {
        // SAFETY: as the vtable says; nothing is left in the stage.
        unsafe { memory::remove(task.cast::<Cell<F, S>>(), S::RECYCLES) };
    }
}
