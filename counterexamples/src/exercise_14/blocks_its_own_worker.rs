//! Breaks clause 10: Block on.
//! Caught by: block_on_within_a_task_panics
//!
//! Only a `block_on` within a `block_on` is refused. One within a task blocks
//! the worker, and if that waits for a task in its own slot, for ever.

use ::{run_queue, sleepers, task};

super::parts! {
    builder right context end handle injector owner runtime search shared
    slot start worker all others
}

mod context {
    use std::cell::Cell;
    use std::marker::PhantomData;

    pub use super::right::{
        Entered, Inside, current, expect_current, leave_forgotten, run_as, worker_of,
    };

    thread_local! {
        static IS_BLOCKED: Cell<bool> = const { Cell::new(false) };
    }

    /// While it lives, this thread waits for a future. It stays on its thread.
    pub struct Blocked(PhantomData<*const ()>);

    impl Blocked {
        /// # Panics
        ///
        /// Where a thread waits already.
        #[track_caller]
        pub fn new() -> Self {
            assert!(
                !IS_BLOCKED.replace(true),
                "`block_on` within a `block_on`: its thread cannot wait for \
                 both futures; `.await` the inner one instead"
            );
            Self(PhantomData)
        }
    }

    impl Drop for Blocked {
        fn drop(&mut self) {
            IS_BLOCKED.set(false);
        }
    }
}
