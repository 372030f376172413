//! Wrong versions of the work-stealing runtime. Each has one part of its own, and
//! the others from the solution.
#![allow(
    dead_code,
    unexpected_cfgs,
    reason = "the other parts have what the right one needs, and a feature"
)]

// The build lists what stands in the folder of this name.
include!(concat!(env!("OUT_DIR"), "/exercise_14.rs"));

/// Takes parts from the solution. `right context` is the solution's context under
/// another name, for a version that replaces some of it.
macro_rules! parts {
    () => {};
    (right context $($rest:tt)*) => {
        #[path = "../../../solutions/14-work-stealing/src/context.rs"]
        mod right;
        $crate::exercise_14::parts! { $($rest)* }
    };
    (right handle $($rest:tt)*) => {
        #[path = "../../../solutions/14-work-stealing/src/handle.rs"]
        mod right;
        $crate::exercise_14::parts! { $($rest)* }
    };
    (builder $($rest:tt)*) => {
        #[path = "../../../solutions/14-work-stealing/src/builder.rs"]
        mod builder;
        $crate::exercise_14::parts! { $($rest)* }
    };
    (context $($rest:tt)*) => {
        #[path = "../../../solutions/14-work-stealing/src/context.rs"]
        mod context;
        $crate::exercise_14::parts! { $($rest)* }
    };
    (end $($rest:tt)*) => {
        #[path = "../../../solutions/14-work-stealing/src/end.rs"]
        mod end;
        $crate::exercise_14::parts! { $($rest)* }
    };
    (handle $($rest:tt)*) => {
        #[path = "../../../solutions/14-work-stealing/src/handle.rs"]
        mod handle;
        $crate::exercise_14::parts! { $($rest)* }
    };
    (injector $($rest:tt)*) => {
        #[path = "../../../solutions/14-work-stealing/src/injector.rs"]
        mod injector;
        $crate::exercise_14::parts! { $($rest)* }
    };
    (owner $($rest:tt)*) => {
        #[path = "../../../solutions/14-work-stealing/src/owner.rs"]
        mod owner;
        $crate::exercise_14::parts! { $($rest)* }
    };
    (runtime $($rest:tt)*) => {
        #[path = "../../../solutions/14-work-stealing/src/runtime.rs"]
        mod runtime;
        $crate::exercise_14::parts! { $($rest)* }
    };
    (search $($rest:tt)*) => {
        #[path = "../../../solutions/14-work-stealing/src/search.rs"]
        mod search;
        $crate::exercise_14::parts! { $($rest)* }
    };
    (shared $($rest:tt)*) => {
        #[path = "../../../solutions/14-work-stealing/src/shared.rs"]
        mod shared;
        $crate::exercise_14::parts! { $($rest)* }
    };
    (slot $($rest:tt)*) => {
        #[path = "../../../solutions/14-work-stealing/src/slot.rs"]
        mod slot;
        $crate::exercise_14::parts! { $($rest)* }
    };
    (start $($rest:tt)*) => {
        #[path = "../../../solutions/14-work-stealing/src/start.rs"]
        mod start;
        $crate::exercise_14::parts! { $($rest)* }
    };
    (worker $($rest:tt)*) => {
        #[path = "../../../solutions/14-work-stealing/src/worker.rs"]
        mod worker;
        $crate::exercise_14::parts! { $($rest)* }
    };
    // The solution's tasks, but each future goes through a function of the version.
    (futures as $changed:ident $($rest:tt)*) => {
        mod task {
            pub use ::task::{
                JoinError, JoinHandle, OwnedTasks, Runnable, Schedule, YieldNow, yield_now,
            };

            pub fn spawn<F, S>(future: F, scheduler: S) -> (Runnable<S>, JoinHandle<F::Output>)
            where
                F: Future + Send + 'static,
                F::Output: Send + 'static,
                S: Schedule,
            {
                ::task::spawn(super::$changed(future), scheduler)
            }
        }
        $crate::exercise_14::parts! { $($rest)* }
    };
    (models $($rest:tt)*) => {
        #[cfg(all(test, any(feature = "loom", feature = "shuttle")))]
        #[path = "../../../exercises/14-work-stealing/src/models/mod.rs"]
        mod models;
        $crate::exercise_14::parts! { $($rest)* }
    };
    // What no version here replaces, what a user sees, and the checks.
    (all others) => {
        $crate::exercise_14::parts! { all others but tests }

        #[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
        #[path = "../../../exercises/14-work-stealing/src/tests/mod.rs"]
        mod tests;
    };
    // For a version that a check fails only by luck.
    (all others but tests) => {
        #[path = "../../../exercises/14-work-stealing/src/events.rs"]
        mod events;
        #[path = "../../../solutions/14-work-stealing/src/observer.rs"]
        mod observer;
        #[path = "../../../solutions/14-work-stealing/src/recent.rs"]
        mod recent;

        pub use builder::Builder;
        pub use context::Entered;
        pub use handle::{
            BlockingHandle, Handle, JoinHandle, sleep, spawn, spawn_blocking,
        };
        pub use runtime::Runtime;
        pub use task::{JoinError, YieldNow, yield_now};
    };
}

use parts;
