//! The tasks of solution 12, each with another part.

/// Makes tasks of solution 12's modules, but for those that a variant brings.
macro_rules! tasks {
    () => {
        #[path = "../../../solutions/12-task/src/cell.rs"]
        mod cell;
        #[path = "../../../solutions/12-task/src/header.rs"]
        mod header;
        #[path = "../../../solutions/12-task/src/join.rs"]
        mod join;
        #[path = "../../../solutions/12-task/src/owned.rs"]
        mod owned;
        #[path = "../../../solutions/12-task/src/raw.rs"]
        mod raw;
        #[path = "../../../solutions/12-task/src/runnable.rs"]
        mod runnable;
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
    };
    (memory as $name:ident) => {
        #[path = "../../../solutions/12-task/src/memory.rs"]
        mod $name;
    };
    (schedule as $name:ident) => {
        #[path = "../../../solutions/12-task/src/schedule.rs"]
        mod $name;
    };
    (state as $name:ident) => {
        #[path = "../../../solutions/12-task/src/state.rs"]
        mod $name;
    };
}

/// The memory of each task is allocated, and freed.
#[path = "."]
pub mod never_recycled {
    tasks!();
    tasks!(memory as right);
    tasks!(schedule as schedule);
    tasks!(state as state);

    mod memory {
        use std::ptr::NonNull;

        use super::right;

        #[inline]
        pub fn place<C>(_recycles: bool) -> NonNull<C> {
            right::place(false)
        }

        /// # Safety
        ///
        /// As in the right one.
        #[inline]
        pub unsafe fn remove<C>(cell: NonNull<C>, _recycles: bool) {
            // SAFETY: passed on; `place` hasn't recycled either.
            unsafe { right::remove(cell, false) };
        }
    }
}

/// Each task is listed when it is spawned, even those that never wait.
#[path = "."]
pub mod listed_at_spawn {
    tasks!();
    tasks!(memory as memory);
    tasks!(schedule as right);
    tasks!(state as state);

    mod schedule {
        pub use super::right::Schedule;
        use super::{JoinHandle, Runnable, owned, right};

        pub fn spawn<F, S>(future: F, scheduler: S) -> (Runnable<S>, JoinHandle<F::Output>)
        where
            F: Future + Send + 'static,
            F::Output: Send + 'static,
            S: Schedule,
        {
            let (task, handle) = right::spawn(future, scheduler);
            // If the list is closed, the task is cancelled when it would be listed.
            owned::enter(&task);
            (task, handle)
        }
    }
}

/// A wake-up by reference is that of a clone, which is counted.
#[path = "."]
pub mod counted_wakes {
    tasks!();
    tasks!(memory as memory);
    tasks!(schedule as schedule);
    tasks!(state as right);

    mod state {
        use std::ops::Deref;

        use super::right::State as Right;
        pub use super::right::{Completed, Detached, IdleTransition, RunTransition, Woken};

        pub struct State(Right);

        impl State {
            pub fn new() -> Self {
                Self(Right::new())
            }

            #[inline]
            pub fn wake_by_ref(&self) -> Woken {
                self.0.retain();
                self.0.wake_by_value()
            }
        }

        impl Deref for State {
            type Target = Right;

            #[inline]
            fn deref(&self) -> &Right {
                &self.0
            }
        }
    }
}
