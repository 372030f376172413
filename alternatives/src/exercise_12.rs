//! Other right versions of the task: each represents its state in a different
//! way.

pub mod counts_wake_ups;
pub mod state_under_a_lock;
pub mod two_steps_a_poll;

/// All of the solution except its state.
macro_rules! other_parts {
    () => {
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
    };
}

use other_parts;

/// What is left to do after each step, in the solution's types.
#[path = "../../solutions/12-task/src/state.rs"]
#[allow(dead_code, reason = "the alternatives have states of their own")]
mod right;
