//! Breaks clause 10: Block on.
//! Caught by: block_on_within_a_task_panics
//!
//! A destructor that runs while a panic unwinds should do as little as it can.
//! This one does nothing. So the thread is taken to be in `block_on` for ever.

use ::{run_queue, sleepers, task};

super::parts! {
    builder right context end handle injector owner runtime search shared
    slot start worker all others
}

mod context {
    use std::mem;
    use std::thread;

    use super::right;

    pub use super::right::{
        Entered, Inside, current, expect_current, leave_forgotten, run_as, worker_of,
    };

    /// While it lives, this thread waits for a future.
    pub struct Blocked(Option<right::Blocked>);

    impl Blocked {
        /// # Panics
        ///
        /// Where a thread must not wait.
        #[track_caller]
        pub fn new() -> Self {
            Self(Some(right::Blocked::new()))
        }
    }

    impl Drop for Blocked {
        fn drop(&mut self) {
            if thread::panicking() {
                mem::forget(self.0.take());
            }
        }
    }
}
