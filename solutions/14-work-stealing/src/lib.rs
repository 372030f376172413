//! Solution 14: a runtime whose workers steal, composed of the solutions before
//! it: the tasks of 12, the queues of 11, the sleepers of 13, the blocking pool
//! of 6 and the timers of 5.
//!
//! `worker` is the loop of a worker, and `worker::search` what it does without
//! work. It gets tasks from its queue, from the `lifo_slot` and from the
//! `injector`, which `prefetch` speeds up. `shared` is what all workers share,
//! `start` starts them and `shared::shutdown` ends them. `context` is what a
//! thread knows of its runtime, and `scheduler_ref` what a task knows. A
//! `driver`, if there is one, is where a worker waits: see `worker::drive`.
//! `runtime`, `handle` and `builder` are what users see. With the feature
//! `observer`, the module of that name emits the `events`.
//!
//! # Contract
//!
//! A task is *ready* from the moment it's spawned, woken or has yielded until
//! it's polled.
//!
//! 1. **Every task runs.** A task is polled until its future is ready, no
//!    matter where it was spawned: before a worker has started, in a task, in a
//!    blocking job, on any other thread, while all workers are parked. It needs
//!    no handle for that.
//! 2. **One poll.** Two workers never poll a task at once. All wake-ups that
//!    come before a poll lead to that one poll; a wake-up during a poll leads
//!    to another.
//! 3. **All workers.** There are as many workers as [`Builder::worker_threads`]
//!    says, each on a thread of its own that is named as
//!    [`Builder::thread_name`] says. If that many tasks are ready, that many
//!    workers run, no matter which thread has spawned or woken them: no task
//!    waits while a worker sleeps, except the task that is next on a worker
//!    that is in a poll. (A worker may keep one task where no other worker can
//!    take it. The worker polls this task as soon as its current poll is over,
//!    or after one more poll, of a task from the global queue. We call this
//!    task the worker's next task. It can also be a task that yields while no
//!    other is ready there.)
//! 4. **From outside.** Tasks that don't stop waking one another, spawning
//!    others, or yielding on every worker don't keep out a task that was
//!    spawned or woken elsewhere, by another thread, a timer or a blocking job:
//!    each worker takes one from the global queue at least every
//!    [`Builder::global_queue_interval`] polls. If it has taken none for so
//!    long, it takes the next one within 16 polls, because a poll may be long.
//!    The same holds for a task whose sleep is over.
//!    No matter how many come, at least a quarter of a worker's polls are of
//!    tasks of its own, as long as it has any. A busy worker takes at most half
//!    of what waits in the global queue, rounded up, and leaves the rest to the
//!    others. A task that it has taken doesn't go back there before it's
//!    polled. The global queue gives out its oldest tasks first.
//! 5. **Next is not always.** A task that is ready on a worker is polled there
//!    after at most a hundred polls, and a hundred more for each task that is
//!    queued before it, no matter what other tasks spawn and wake. If its queue
//!    overflows, it may go to the end of the global queue instead, once.
//! 6. **Time goes on.** A [`sleep`](sleep()) ends even while all workers are
//!    busy with tasks that yield, and even while all are parked. The timer
//!    thread of exercise 5 may do that; it outlives the runtime.
//! 7. **The handle.** A [`JoinHandle`] gives what its future returned, and
//!    wakes its awaiter, on any thread. Dropping it detaches the task.
//! 8. **Abort.** [`JoinHandle::abort`] ends a task: its future is dropped, and
//!    the handle gives an error that says so.
//! 9. **Panics.** A task's panic reaches its handle and nothing else. The
//!    worker continues, and so do all other tasks.
//! 10. **Block on.** [`Runtime::block_on`] polls its future, which may borrow
//!     and needn't be `Send`, on the calling thread, while the workers run the
//!     tasks. Several threads may call it at a time. In a task or another
//!     `block_on`, of any runtime, it panics with a message that contains
//!     "within"; in a blocking job it doesn't.
//! 11. **Where you are.** [`spawn`], [`spawn_blocking`](spawn_blocking()) and
//!     [`sleep`](sleep()) use the runtime that was last entered on this thread.
//!     A poll of a task, a blocking job and a `block_on` begin by entering
//!     their own, and may then enter another, by a guard of `enter`. Where
//!     there's no runtime, they panic with a message that contains "runtime". A
//!     guard of `enter` that a task or a job forgets harms nothing else.
//! 12. **Blocking jobs.** A job may block without keeping any task from
//!     running. At most [`Builder::max_blocking_threads`] jobs run at a time.
//! 13. **Yield.** A task that awaits [`yield_now`] is polled again after the
//!     tasks that are ready on its worker, at least four times out of five: now
//!     and then one of these has moved to another queue. Of two tasks that
//!     yield on one worker, neither is polled twice as often as the other.
//! 14. **Two runtimes.** A task is polled by the workers of the runtime that it
//!     was spawned on, no matter which thread wakes it.
//! 15. **Shutdown.** Dropping the runtime drops the future of each task, even
//!     of one that waits or that another thread is waking, and ends all workers
//!     and all blocking jobs that have begun, before the drop returns. Jobs
//!     that are queued may run first, or never begin; the handles of those that
//!     never begin, and of tasks that were dropped, give errors. The drop waits
//!     for a task that is being polled; then a worker polls at most 127 more
//!     tasks. The tasks are dropped before the drop waits for the jobs, so a
//!     job may await a task.
//! 16. **After the end.** A task that is spawned during or after the shutdown
//!     is dropped, and its handle says that it was cancelled. A blocking job
//!     that is submitted then has ended before the shutdown is over, or is
//!     cancelled. Waking or dropping what's left of a task does no harm. A
//!     runtime that is dropped in a poll of one of its own tasks ends, too, and
//!     that drop waits for nothing; dropped in one of its own jobs, the runtime
//!     waits for no job, and those that are queued may still run.
//! 17. **Idle.** With nothing to do, no worker uses the processor.
//! 18. **Neighbors.** While all workers are busy, nothing comes from outside
//!     and no queue overflows, at least two in three of the tasks that a task
//!     spawns in a row are polled by the worker that polled the one before. It
//!     makes no difference whether each worker has a queue of its own or takes
//!     several tasks at a time from one that all share.
//!
//! # A driver
//!
//! [`Builder::build_on`] makes a runtime whose workers wait in a [`Driver`],
//! one at a time. All of the above still holds. Besides:
//!
//! - While any worker has nothing to do, one worker waits in the driver. A
//!   worker that leaves the driver with work makes sure of that before it polls
//!   a task: it notifies another worker, or there's one that watches the driver
//!   and takes it after at most five milliseconds.
//! - If all workers are busy, each looks at the driver about every 200 µs, or
//!   after its current poll.
//! - Of a batch of events, at most 32 put their tasks into the queue of the
//!   worker that has the driver; the other tasks go to the global queue.
//! - At the end, the runtime drops its tasks and then shuts the driver down.
//!
//! # Examples
//!
//! ```
//! let runtime = solution_14::Runtime::new()?;
//! let answer = runtime.block_on(async {
//!     let half = solution_14::spawn(async { 21 });
//!     2 * half.await.expect("it does not panic")
//! });
//! assert_eq!(answer, 42);
//! # Ok::<(), std::io::Error>(())
//! ```

mod builder;
mod context;
#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod context_tests;
mod driver;
#[cfg(all(test, any(feature = "loom", feature = "shuttle")))]
mod driver_models;
#[path = "../../../exercises/14-work-stealing/src/events.rs"]
mod events;
mod handle;
mod injector;
mod lifo_slot;
#[cfg(all(test, any(feature = "loom", feature = "shuttle")))]
#[path = "../../../exercises/14-work-stealing/src/models/mod.rs"]
mod models;
mod observer;
mod prefetch;
mod runtime;
mod scheduler_ref;
mod shared;
mod start;
#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "../../../exercises/14-work-stealing/src/tests/mod.rs"]
mod tests;
mod worker;

// Modules reach these by `super`, so that the benchmarks can replace one of
// these crates.
use ::{run_queue, sleepers, task};

pub use builder::Builder;
pub use context::EnterGuard;
pub use driver::{Driver, driver_handle, map_driver_handle_as};
pub use events::{Event, Queue};
pub use handle::{
    BlockingHandle, Handle, JoinHandle, sleep, spawn, spawn_blocking,
};
pub use runtime::Runtime;
pub use sleep::Sleep;
pub use task::{JoinError, YieldNow, yield_now};
