//! Solution 14 with one part replaced: each module is a runtime that lacks one
//! of its optimizations and has all the others, for
//! `cargo bench -p benches --bench scheduler_parts`.
//!
//! Nothing of the solutions stands here again. A part that is exchanged holds
//! the right one, and replaces one of its methods.
#![allow(
    clippy::duplicate_mod,
    dead_code,
    unexpected_cfgs,
    reason = "the other parts are the solutions', with a feature of theirs"
)]

mod decisions;
mod tasks;

/// Makes a runtime of solution 14's modules, but for those that a variant
/// brings: its slot, its injector, its observer, or what stands for a crate.
macro_rules! runtime {
    () => {
        runtime!(without observer);
        #[path = "../../../solutions/14-work-stealing/src/observer.rs"]
        mod observer;
    };
    (without observer) => {
        #[path = "../../../solutions/14-work-stealing/src/builder.rs"]
        mod builder;
        #[path = "../../../solutions/14-work-stealing/src/context.rs"]
        mod context;
        #[path = "../../../exercises/14-work-stealing/src/events.rs"]
        mod events;
        #[path = "../../../solutions/14-work-stealing/src/handle.rs"]
        mod handle;
        #[path = "../../../solutions/14-work-stealing/src/runtime.rs"]
        mod runtime;
        #[path = "../../../solutions/14-work-stealing/src/scheduler_ref.rs"]
        mod scheduler_ref;
        #[path = "../../../solutions/14-work-stealing/src/shared/mod.rs"]
        mod shared;
        #[path = "../../../solutions/14-work-stealing/src/start.rs"]
        mod start;
        #[path = "../../../solutions/14-work-stealing/src/worker/mod.rs"]
        mod worker;

        pub use builder::Builder;
        pub use context::EnterGuard;
        pub use handle::{BlockingHandle, Handle, JoinHandle, sleep, spawn, spawn_blocking};
        pub use runtime::Runtime;
        pub use sleep::Sleep;
        pub use task::{JoinError, YieldNow, yield_now};
    };
    (lifo_slot as $name:ident) => {
        #[path = "../../../solutions/14-work-stealing/src/lifo_slot.rs"]
        mod $name;
    };
    (injector as $name:ident) => {
        runtime!(injector as $name, without prefetch);
        #[path = "../../../solutions/14-work-stealing/src/prefetch.rs"]
        mod prefetch;
    };
    (injector as $name:ident, without prefetch) => {
        #[path = "../../../solutions/14-work-stealing/src/injector/mod.rs"]
        mod $name;
    };
}

/// The queue of a worker is a `VecDeque` in a mutex.
#[path = "."]
pub mod locked_queue {
    use ::{sleepers, task};
    use alternatives::exercise_11::mutex as run_queue;

    runtime!();
    runtime!(lifo_slot as lifo_slot);
    runtime!(injector as injector);
}

/// What was woken or spawned goes to the end of the queue.
#[path = "."]
pub mod no_slot {
    use ::{run_queue, sleepers, task};

    runtime!();
    runtime!(injector as injector);
    mod lifo_slot;
}

/// Each push to the injector takes its lock.
#[path = "."]
pub mod locked_injector {
    use ::{run_queue, sleepers, task};

    runtime!();
    runtime!(lifo_slot as lifo_slot);
    runtime!(injector as right_injector);
    mod injector;
}

/// A worker that takes from the injector waits for one task after the other.
#[path = "."]
pub mod unfetched {
    use ::{run_queue, sleepers, task};

    runtime!();
    runtime!(lifo_slot as lifo_slot);
    runtime!(injector as injector, without prefetch);
    mod prefetch;
}

/// All workers may search at once.
#[path = "."]
pub mod all_search {
    use super::decisions::all_search as sleepers;
    use ::{run_queue, task};

    runtime!();
    runtime!(lifo_slot as lifo_slot);
    runtime!(injector as injector);
}

/// A parked worker is unparked for each task, although another one searches.
#[path = "."]
pub mod always_wake {
    use super::decisions::always_wake as sleepers;
    use ::{run_queue, task};

    runtime!();
    runtime!(lifo_slot as lifo_slot);
    runtime!(injector as injector);
}

/// The memory of each task is allocated, and freed.
#[path = "."]
pub mod never_recycled {
    use super::tasks::never_recycled as task;
    use ::{run_queue, sleepers};

    runtime!();
    runtime!(lifo_slot as lifo_slot);
    runtime!(injector as injector);
}

/// Each task is listed when it is spawned, even those that never wait.
#[path = "."]
pub mod listed_at_spawn {
    use super::tasks::listed_at_spawn as task;
    use ::{run_queue, sleepers};

    runtime!();
    runtime!(lifo_slot as lifo_slot);
    runtime!(injector as injector);
}

/// A wake-up by reference counts a reference.
#[path = "."]
pub mod counted_wakes {
    use super::tasks::counted_wakes as task;
    use ::{run_queue, sleepers};

    runtime!();
    runtime!(lifo_slot as lifo_slot);
    runtime!(injector as injector);
}

/// An observer could be told what happens, but there is none.
#[path = "."]
pub mod observable {
    use ::{run_queue, sleepers, task};

    runtime!(without observer);
    runtime!(lifo_slot as lifo_slot);
    runtime!(injector as injector);
    mod observer;

    const OBSERVE: Option<fn(events::Event)> = None;
}

/// An observer is told what happens, and does nothing about it.
#[path = "."]
pub mod observed {
    use std::hint;

    use ::{run_queue, sleepers, task};

    runtime!(without observer);
    runtime!(lifo_slot as lifo_slot);
    runtime!(injector as injector);
    mod observer;

    const OBSERVE: Option<fn(events::Event)> = Some(|event| {
        hint::black_box(event);
    });
}

/// Workers that park are counted if tasks are ready in the injection queue, more
/// than are on the way to a worker.
#[path = "."]
pub mod watched {
    use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::Relaxed};

    use events::{Event, Queue};

    use ::{run_queue, sleepers, task};

    runtime!(without observer);
    runtime!(lifo_slot as lifo_slot);
    runtime!(injector as injector);
    mod observer;

    /// Each of four workers may have taken a batch without having said so, and
    /// one thread may have said that it pushes and not have pushed.
    const ON_THE_WAY: isize = 4 * (shared::CAPACITY as isize / 2 + 1) + 1;

    /// In the injection queues of all these runtimes.
    static READY: AtomicIsize = AtomicIsize::new(0);
    static PARKS: AtomicUsize = AtomicUsize::new(0);

    // All orderings are Relaxed: they are counts.
    const OBSERVE: Option<fn(Event)> = Some(|event| match event {
        Event::Pushed(Queue::Global) => drop(READY.fetch_add(1, Relaxed)),
        Event::Overflowed { count } => drop(READY.fetch_add(count as isize, Relaxed)),
        Event::Took { count } => drop(READY.fetch_sub(count as isize, Relaxed)),
        Event::Parked if READY.load(Relaxed) > ON_THE_WAY => drop(PARKS.fetch_add(1, Relaxed)),
        _ => {}
    });

    /// Returns how often a worker has parked while tasks were ready, since the last
    /// call.
    pub fn parks_while_ready() -> f64 {
        PARKS.swap(0, Relaxed) as f64
    }
}
