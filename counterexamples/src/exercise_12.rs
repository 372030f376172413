//! Wrong versions of the task. Each replaces one part of the solution: the
//! others are the solution's own files.

// The build lists what stands in the folder of this name.
include!(concat!(env!("OUT_DIR"), "/exercise_12.rs"));

/// Takes parts from the solution. `right state` is the solution's state under
/// another name, for a version that replaces some of its functions.
macro_rules! parts {
    () => {};
    (right cell $($rest:tt)*) => {
        #[path = "../../../solutions/12-task/src/cell.rs"]
        #[allow(dead_code, reason = "some of it is replaced")]
        mod right;
        $crate::exercise_12::parts! { $($rest)* }
    };
    (right holder $($rest:tt)*) => {
        #[path = "../../../solutions/12-task/src/holder.rs"]
        #[allow(dead_code, reason = "some of it is replaced")]
        mod right;
        $crate::exercise_12::parts! { $($rest)* }
    };
    (right join $($rest:tt)*) => {
        #[path = "../../../solutions/12-task/src/join.rs"]
        mod right;
        $crate::exercise_12::parts! { $($rest)* }
    };
    (right owned $($rest:tt)*) => {
        #[path = "../../../solutions/12-task/src/owned.rs"]
        #[allow(dead_code, reason = "some of it is replaced")]
        mod right;
        $crate::exercise_12::parts! { $($rest)* }
    };
    (right slot $($rest:tt)*) => {
        #[path = "../../../solutions/12-task/src/slot.rs"]
        #[allow(dead_code, reason = "some of it is replaced")]
        mod right;
        $crate::exercise_12::parts! { $($rest)* }
    };
    (right state $($rest:tt)*) => {
        #[path = "../../../solutions/12-task/src/state.rs"]
        #[allow(dead_code, reason = "some of it is replaced")]
        mod right;
        $crate::exercise_12::parts! { $($rest)* }
    };
    (right waker $($rest:tt)*) => {
        #[path = "../../../solutions/12-task/src/waker.rs"]
        #[allow(dead_code, reason = "some of it is replaced")]
        mod right;
        $crate::exercise_12::parts! { $($rest)* }
    };
    (cell $($rest:tt)*) => {
        #[path = "../../../solutions/12-task/src/cell.rs"]
        mod cell;
        $crate::exercise_12::parts! { $($rest)* }
    };
    (holder $($rest:tt)*) => {
        #[path = "../../../solutions/12-task/src/holder.rs"]
        mod holder;
        $crate::exercise_12::parts! { $($rest)* }
    };
    (join $($rest:tt)*) => {
        #[path = "../../../solutions/12-task/src/join.rs"]
        mod join;
        $crate::exercise_12::parts! { $($rest)* }
    };
    (owned $($rest:tt)*) => {
        #[path = "../../../solutions/12-task/src/owned.rs"]
        mod owned;
        $crate::exercise_12::parts! { $($rest)* }
    };
    (runnable $($rest:tt)*) => {
        #[path = "../../../solutions/12-task/src/runnable.rs"]
        mod runnable;
        $crate::exercise_12::parts! { $($rest)* }
    };
    (slot $($rest:tt)*) => {
        #[path = "../../../solutions/12-task/src/slot.rs"]
        mod slot;
        $crate::exercise_12::parts! { $($rest)* }
    };
    (state $($rest:tt)*) => {
        #[path = "../../../solutions/12-task/src/state.rs"]
        mod state;
        $crate::exercise_12::parts! { $($rest)* }
    };
    (waker $($rest:tt)*) => {
        #[path = "../../../solutions/12-task/src/waker.rs"]
        mod waker;
        $crate::exercise_12::parts! { $($rest)* }
    };
    (all others) => {
        $crate::exercise_12::parts! { join the rest }
    };
    // What no version replaces, what a user sees, and the checks.
    (the rest) => {
        #[path = "../../../solutions/12-task/src/memory.rs"]
        mod memory;
        #[path = "../../../solutions/12-task/src/schedule.rs"]
        mod schedule;
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

/// Wraps the solution's state: what a version does not write itself is as it
/// was.
macro_rules! wrapped_state {
    () => {
        pub use super::right::{Completed, Detached, Pending, Turn, Woken};

        /// The state of one task.
        pub struct State(super::right::State);

        impl State {
            pub fn new() -> Self {
                Self(super::right::State::new())
            }
        }

        impl std::ops::Deref for State {
            type Target = super::right::State;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }
    };
}

/// Replaces functions in the vtable of the tasks that `allocate` makes.
macro_rules! with_vtable {
    ($($function:ident),+) => {
        pub use super::right::{
            Header, Vtable, drop_scheduler, ignore_panics, scheduler_of,
            take_link,
        };
        use super::Schedule;
        use super::right::{self, Cell};
        use std::ptr::NonNull;

        struct Wrong<F, S>(std::marker::PhantomData<(F, S)>);

        impl<F, S> Wrong<F, S>
        where
            F: Future + Send + 'static,
            F::Output: Send + 'static,
            S: Schedule,
        {
            const VTABLE: &'static Vtable = &Vtable {
                $($function: $function::<F, S>,)+
                ..*Cell::<F, S>::VTABLE
            };
        }

        pub fn allocate<F, S>(future: F, scheduler: S) -> NonNull<Header>
        where
            F: Future + Send + 'static,
            F::Output: Send + 'static,
            S: Schedule,
        {
            let mut task = right::allocate(future, scheduler);
            // SAFETY: the task is new, and nobody else knows it.
            unsafe { task.as_mut() }.vtable = Wrong::<F, S>::VTABLE;
            task
        }
    };
}

use parts;
use with_vtable;
use wrapped_state;
