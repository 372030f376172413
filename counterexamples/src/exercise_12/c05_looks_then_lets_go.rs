//! Breaks clause 5: No lost wake-up.
//! Caught by: models::a_wake_up_counts_in_every_order
//! Order: a failure
//! Also fails: thousands_of_wake_ups_from_another_thread_all_arrive
//! Also fails: models::an_abort_ends_the_task_in_every_order
//! Also fails: models::no_task_slips_past_a_list_that_closes
//! Also fails: models::the_future_goes_from_thread_to_thread_in_one_piece
//! Also fails: models::what_was_written_before_any_wake_up_is_seen
//! Also fails: a_handle_may_be_used_at_any_moment_of_the_end_of_its_task
//!
//! Two steps instead of one: look for the notification, then clear the flag. A
//! wake-up between the two finds `RUNNING`, leaves its notification and
//! returns, but the thread that has the task has already looked.

#[path = "../../../solutions/12-task/src/cell.rs"]
mod cell;
#[path = "../../../solutions/12-task/src/header.rs"]
mod header;
#[path = "../../../solutions/12-task/src/join.rs"]
mod join;
#[path = "../../../solutions/12-task/src/memory.rs"]
mod memory;
#[path = "../../../solutions/12-task/src/owned.rs"]
mod owned;
#[path = "../../../solutions/12-task/src/raw.rs"]
mod raw;
#[path = "../../../solutions/12-task/src/state.rs"]
#[allow(dead_code, reason = "some of it is replaced")]
mod right;
#[path = "../../../solutions/12-task/src/runnable.rs"]
mod runnable;
#[path = "../../../solutions/12-task/src/schedule.rs"]
mod schedule;
#[path = "../../../solutions/12-task/src/waker.rs"]
mod waker;
#[path = "../../../solutions/12-task/src/waker_cell.rs"]
mod waker_cell;
#[path = "../../../solutions/12-task/src/yields.rs"]
mod yields;

pub use join::JoinHandle;
pub use owned::OwnedTasks;
pub use runnable::Runnable;
pub use schedule::{Schedule, spawn};
pub use spawn_blocking::JoinError;
pub use yields::{YieldNow, yield_now};

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/12-task/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/12-task/src/tests/mod.rs"]
mod tests;

/// Checks whether there is a reason to keep the task, and lets go of it.
mod state {
    use primitives::atomic::Ordering::{Relaxed, Release};

    use super::right::{self, CANCELLED, NOTIFIED, RUNNING};
    pub use super::right::{
        Completed, Detached, IdleTransition, RunTransition, Woken,
    };

    /// The state of one task.
    pub struct State(right::State);

    impl std::ops::Deref for State {
        type Target = right::State;

        fn deref(&self) -> &Self::Target {
            &self.0
        }
    }

    impl State {
        pub fn new() -> Self {
            Self(right::State::new())
        }

        // ANCHOR: bug
        pub fn transition_to_idle(&self) -> IdleTransition {
            // ANCHOR: guilty
            let state = self.0.0.load(Relaxed);
            // ANCHOR_END: guilty
            if state & CANCELLED != 0 {
                return IdleTransition::Cancelled;
            }
            if state & NOTIFIED != 0 {
                return IdleTransition::Notified;
            }
            // ANCHOR: guilty_2
            self.0.0.fetch_and(!RUNNING, Release);
            // ANCHOR_END: guilty_2
            IdleTransition::Idle
        }
        // ANCHOR_END: bug
    }
}
