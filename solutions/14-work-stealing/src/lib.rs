//! Solution 14: a runtime whose workers steal, composed of the solutions before
//! it: the tasks of 12, the queues of 11, the sleepers of 13, the blocking pool
//! of 6 and the timers of 5.
//!
//! `worker` is the loop of a worker, and `worker::search` what it does without
//! work. It gets tasks from its queue, from the `lifo_slot` and from the
//! `injector`, which `prefetch` speeds up. `shared` is what all workers share,
//! `start` starts them and `shared::shutdown` ends them. `context` is what a
//! thread knows of its runtime, and `scheduler_ref` what a task knows.
//! `runtime`, `handle` and `builder` are what users see. With the feature
//! `observer`, the module of that name emits the `events`.
//!
//! # Contract
//!
//! A task is *ready* from the time that it is spawned, woken or has yielded
//! until it is polled.
//!
//! 1. **Every task runs.** A task is polled until it is ready, wherever it was
//!    spawned: before a worker has begun, in a task, in a blocking job, on any
//!    other thread, while all workers sleep. It needs no handle for that.
//! 2. **One poll.** A task is never polled by two workers at once. However
//!    often it is woken before a poll, that is one poll; if it is woken during
//!    one, another follows.
//! 3. **All workers.** There are as many workers as [`Builder::worker_threads`]
//!    says, each with a thread of its own that is named as
//!    [`Builder::thread_name`] says. If so many tasks are ready, so many
//!    workers run, whoever has spawned or woken them: no task waits while a
//!    worker sleeps, but for the one that is next on a worker that is in a
//!    poll. (A worker may keep one task, which it polls as soon as its poll is
//!    over, where no other worker can take it: that is the next one. So is a
//!    task that yields while no other is ready there.)
//! 4. **From outside.** Tasks that do not stop waking one another, spawning
//!    others, or yielding on every worker do not keep out a task that was
//!    spawned or woken elsewhere: each worker takes one from the global queue
//!    at least every [`Builder::global_queue_interval`] polls, but not at each
//!    while others wait in its own queue. What has been taken does not go back
//!    there before it is polled.
//! 5. **Next is not always.** A task that is ready on a worker is polled there
//!    after at most a hundred polls, and a hundred more for each task that is
//!    queued before it, whatever other tasks spawn and wake. If its queue
//!    overflows, it may go to the end of the global queue instead, once.
//! 6. **Time goes on.** A [`sleep`](sleep()) ends though all workers are busy
//!    with tasks that yield, and though all sleep. The timer thread of
//!    exercise 5 may see to that; it outlives the runtime.
//! 7. **The handle.** A [`JoinHandle`] gives what the future has returned, and
//!    wakes who awaits it, on any thread. To drop it detaches the task.
//! 8. **Abort.** [`JoinHandle::abort`] ends a task: its future is dropped, and
//!    the handle gives an error that says so.
//! 9. **Panics.** A panic of a task reaches its handle and nobody else. The
//!    worker goes on, and so do all other tasks.
//! 10. **Block on.** [`Runtime::block_on`] polls its future, which may borrow
//!     and need not be `Send`, on the thread that calls it, while the workers
//!     run the tasks. Several threads may do so at a time. In a task or another
//!     `block_on`, of whichever runtime, it panics and says "within"; in a
//!     blocking job it does not.
//! 11. **Where you are.** [`spawn`], [`spawn_blocking`](spawn_blocking()) and
//!     [`sleep`](sleep()) use the runtime of the task, the blocking job or the
//!     `block_on` that calls them, or the one that was entered on this thread
//!     last. Where there is none they panic and say "runtime". A guard of
//!     `enter` that a task or a job forgets harms nothing else.
//! 12. **Blocking jobs.** A job may block without keeping any task from being
//!     run. At most [`Builder::max_blocking_threads`] run at a time.
//! 13. **Yield.** A task that awaits [`yield_now`] is polled again after the
//!     tasks that are ready on its worker, at least four times out of five: now
//!     and then one of these has gone to another queue. Of two tasks that yield
//!     on one worker, neither gets twice as many turns as the other.
//! 14. **Two runtimes.** A task is polled by the workers of the runtime that it
//!     was spawned on, whoever wakes it.
//! 15. **Shutdown.** To drop the runtime drops the future of each task, also
//!     of those that wait or that another thread is waking, and ends all
//!     workers and all blocking jobs that have begun, before it returns. Jobs
//!     that are queued may run first, or never begin; the handles of those that
//!     never begin, and of tasks that were dropped, give errors. A task that is
//!     being polled is waited for; then a worker polls at most 127 tasks more.
//!     The tasks are dropped before the jobs are waited for, so a job may await
//!     a task.
//! 16. **After the end.** A task that is spawned during or after the shutdown
//!     is dropped, and its handle says that it was cancelled. A blocking job
//!     that is submitted then has ended before the shutdown is over, or is
//!     cancelled. To wake or drop what is left of a task does no harm. A
//!     runtime that is dropped in a poll of one of its own tasks ends, too, and
//!     waits for nobody; dropped in one of its own jobs, it does not wait for
//!     that job.
//! 17. **Idle.** With nothing to do, no worker uses the processor.
//! 18. **Queues of their own.** A worker takes tasks from its own queue, or
//!     several at a time from one that it shares: while all workers are busy,
//!     nothing comes from outside and no queue overflows, of the tasks that a
//!     task spawns in a row at least two in three are polled by the worker that
//!     polled the one before.
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

// Modules reach these by `super`, so that the benchmarks can put another crate in
// the place of one.
use ::{run_queue, sleepers, task};

pub use builder::Builder;
pub use context::EnterGuard;
pub use events::{Event, Queue};
pub use handle::{
    BlockingHandle, Handle, JoinHandle, sleep, spawn, spawn_blocking,
};
pub use runtime::Runtime;
pub use sleep::Sleep;
pub use task::{JoinError, YieldNow, yield_now};
