//! The task, milestone by milestone. Each version takes the solution's parts,
//! except for those that it writes itself.

pub mod m1_runs;
pub mod m2_handle;

macro_rules! parts {
    ($($name:ident = $file:literal),+) => {
        $(
            #[path = $file]
            #[allow(dead_code, reason = "some of it comes later")]
            mod $name;
        )+
    };
}
macro_rules! the_rest {
    () => {
        $crate::exercise_12::parts! {
            cell = "../../../solutions/12-task/src/cell.rs",
            header = "../../../solutions/12-task/src/header.rs",
            memory = "../../../solutions/12-task/src/memory.rs",
            runnable = "../../../solutions/12-task/src/runnable.rs",
            schedule = "../../../solutions/12-task/src/schedule.rs",
            state = "../../../solutions/12-task/src/state.rs",
            waker = "../../../solutions/12-task/src/waker.rs",
            waker_cell = "../../../solutions/12-task/src/waker_cell.rs"
        }

        pub use join::JoinHandle;
        pub use owned::OwnedTasks;
        pub use runnable::Runnable;
        pub use schedule::{Schedule, spawn};
        pub use spawn_blocking::JoinError;
        pub use yields::{YieldNow, yield_now};

        #[cfg(test)]
        #[path = "../../../exercises/12-task/src/tests/mod.rs"]
        mod tests;
    };
}

/// No list yet, and no yield without a waker.
macro_rules! without_list_and_yields {
    () => {
        mod owned {
            use std::marker::PhantomData;

            use super::{Runnable, Schedule};

            pub fn enter<S: Schedule>(task: &Runnable<S>) -> bool {
                if task.scheduler().owned().is_some() {
                    todo!()
                }
                true
            }

            pub fn leave<S: Schedule>(_: &Runnable<S>) {}

            pub struct OwnedTasks<S>(PhantomData<fn() -> S>);

            impl<S: Schedule> OwnedTasks<S> {
                pub fn new() -> Self {
                    todo!()
                }

                pub fn close_and_cancel(&self) {
                    todo!()
                }

                pub fn is_empty(&self) -> bool {
                    todo!()
                }
            }
        }

        mod yields {
            use std::pin::Pin;
            use std::ptr::NonNull;
            use std::task::{Context, Poll};

            use super::header::Header;

            pub fn watch(
                _: NonNull<Header>,
                poll: impl FnOnce() -> Poll<()>,
            ) -> (Poll<()>, bool) {
                (poll(), false)
            }

            pub struct YieldNow;

            pub fn yield_now() -> YieldNow {
                todo!()
            }

            impl Future for YieldNow {
                type Output = ();

                fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
                    todo!()
                }
            }
        }
    };
}

use {parts, the_rest, without_list_and_yields};
