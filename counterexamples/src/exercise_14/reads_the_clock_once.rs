//! Breaks clause 6: Time goes on.
//! Caught by: sleeps_end_though_all_workers_are_busy
//!
//! To read the clock takes longer than to spawn. So a thread reads it once and
//! counts all its sleeps from there: those that come later end early.

use ::{run_queue, sleepers, task};

super::parts! {
    builder context end right handle injector owner runtime search shared
    slot start worker all others
}

mod handle {
    use std::time::{Duration, Instant};

    use sleep::Sleep;

    use super::context;

    pub use super::right::{
        BlockingHandle, Handle, JoinHandle, spawn, spawn_blocking,
    };

    /// Makes a future that is ready once `duration` has passed.
    ///
    /// # Panics
    ///
    /// Outside of a runtime.
    #[track_caller]
    pub fn sleep(duration: Duration) -> Sleep {
        // SAFETY: the reference is not used.
        let _ = unsafe { context::expect_current() };
        thread_local! {
            static NOW: Instant = Instant::now();
        }
        sleep::sleep_until(NOW.with(|now| *now) + duration)
    }
}
