//! The runtime, milestone by milestone, on one queue behind one lock. What is
//! given, and what a user calls, are the solution's files.
#![allow(dead_code, reason = "one queue has nothing to tell an observer")]

pub mod m1_shell;
pub mod m2_end;

macro_rules! one_queue {
    () => {
        #[path = "../../../solutions/14-work-stealing/src/builder.rs"]
        mod builder;
        #[path = "../../../solutions/14-work-stealing/src/context.rs"]
        mod context;
        #[path = "../../../exercises/14-work-stealing/src/events.rs"]
        mod events;
        #[path = "../../../solutions/14-work-stealing/src/handle.rs"]
        mod handle;
        #[path = "../../../solutions/14-work-stealing/src/observer.rs"]
        mod observer;
        #[path = "../../../solutions/14-work-stealing/src/runtime.rs"]
        mod runtime;
        #[path = "one_queue/shared.rs"]
        mod shared;
        #[path = "one_queue/start.rs"]
        mod start;
        #[path = "one_queue/worker.rs"]
        mod worker;

        pub use builder::Builder;
        pub use context::EnterGuard;
        pub use handle::{
            BlockingHandle, Handle, JoinHandle, sleep, spawn, spawn_blocking,
        };
        pub use runtime::Runtime;
        pub use task::{JoinError, YieldNow, yield_now};

        #[cfg(test)]
        #[path = "../../../exercises/14-work-stealing/src/tests/mod.rs"]
        mod tests;
    };
}

use one_queue;
