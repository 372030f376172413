//! Exercise 14: a runtime whose workers steal from one another.
//!
//! The chapter is `src/scheduler/work-stealing.md`. Check yourself with
//! `cargo test -p exercise-14`, and then explore many interleavings with
//! `cargo test -p exercise-14 --features loom`, and then `--features shuttle`.
//!
//! Import from `primitives` what you would import from `std::sync` and
//! `std::thread`, including `thread_local!`; only `Shared` and what becomes a
//! waker stay in a [`std::sync::Arc`].
//!
//! In the models, a ring needs a small capacity, such as 4: it has to overflow
//! soon, and 256 of loom's cells don't fit in the 32 KiB of a thread's stack.
//! `cfg!(any(feature = "loom", feature = "shuttle"))` is `true` there.
//!
//! The parts exist already: `run_queue`, `task`, `sleepers`, `parker`,
//! `block_on`, `spawn_blocking` and `sleep` are the exercises of those names,
//! and `Cargo.toml` says how to use your own versions. You still have to put
//! them together: which worker runs a task, which one steals, when workers
//! park, what unparks them, and how the runtime ends.
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
//! # Milestones
//!
//! You needn't write everything before the first check is green. A check that
//! reaches a `todo!` counts as not written yet, and not as a failure.
//!
//! 1. **A shell.** Clauses 1, 2, 6 to 12, 14 and 17: tasks, handles, `block_on`
//!    and blocking jobs, on one queue behind one lock.
//! 2. **Its end.** Clauses 15 and 16: the destructor of [`Runtime`].
//! 3. **Its workers.** Clauses 3 to 5, 13 and 18: a ring and a LIFO slot for
//!    each worker, the injector, the search, and the notifications.
//!
//! # Examples
//!
//! ```no_run
//! let runtime = exercise_14::Runtime::new().expect("there are threads left");
//! let sum = runtime.block_on(async {
//!     let halves = [0..500, 500..1_000].map(|numbers| {
//!         exercise_14::spawn(async move { numbers.sum::<u32>() })
//!     });
//!     let [low, high] = halves;
//!     low.await.unwrap() + high.await.unwrap()
//! });
//! assert_eq!(sum, 499_500);
//! ```

// Given: the builder's settings, the runtime that a thread has entered and the
// worker that it is, with their guards, and the observer of events. Three of
// these are files of our solution; copy them if you want to change something.
#[path = "../../../solutions/14-work-stealing/src/builder.rs"]
mod builder;
#[allow(dead_code, reason = "you will use it")]
#[path = "../../../solutions/14-work-stealing/src/context.rs"]
mod context;
mod events;
#[cfg(all(test, any(feature = "loom", feature = "shuttle")))]
mod models;
#[allow(dead_code, reason = "you may use it")]
#[path = "../../../solutions/14-work-stealing/src/observer.rs"]
mod observer;
#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests;

/// Where the given files look for your types.
mod shared {
    pub(crate) use super::Shared;
}
mod worker {
    pub(crate) use super::Worker;
}

use std::io;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use primitives::thread;

pub use builder::Builder;
pub use context::EnterGuard;
pub use events::{Event, Queue};
pub use sleep::Sleep;
pub use task::{JoinError, JoinHandle, YieldNow, yield_now};

/// What a blocking job returns, to be awaited.
pub type BlockingHandle<T> = spawn_blocking::JoinHandle<T>;

/// What the workers and the handles share. The tasks share it, too, through
/// the scheduler that you give them: see [`task::Schedule`].
pub(crate) struct Shared {}

impl Shared {
    /// The initial state of a runtime with these settings.
    fn new(builder: &Builder) -> Self {
        let _ = builder;
        todo!("a queue, the parked workers, and a pool for blocking jobs")
    }
}

/// A worker, on its own thread.
pub(crate) struct Worker {
    shared: Arc<Shared>,
}

impl Worker {
    /// The worker with this index, which starts at 0.
    fn new(shared: Arc<Shared>, index: usize) -> Self {
        let _ = index;
        Self { shared }
    }

    /// Returns `true` if this worker belongs to `runtime`.
    pub(crate) fn is_of(&self, runtime: &Shared) -> bool {
        ptr::eq(&*self.shared, runtime)
    }

    /// Runs tasks until the runtime ends. After each of them it calls
    /// [`context::leave_forgotten`].
    fn run(self) {
        let _inside = context::EnterScope::new(self.shared.clone());
        context::run_as(&self, || todo!("take a task and run it, or park"));
    }
}

/// Workers, and all that they share. Its tasks end with it.
pub struct Runtime {
    handle: Handle,
    workers: Vec<thread::JoinHandle<()>>,
}

impl Runtime {
    /// Makes a runtime with as many workers as the system says it can run at a
    /// time.
    ///
    /// # Errors
    ///
    /// When a thread can't be started.
    pub fn new() -> io::Result<Self> {
        Self::builder().build()
    }

    /// Returns a builder, for a runtime with other settings.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Runs `future` to its end on this thread.
    ///
    /// # Panics
    ///
    /// Within a task or another `block_on`, and if `future` does.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        drop(future);
        todo!("check that this thread may block; enter, poll and park")
    }

    /// Spawns a task.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// Runs `job` on a thread where it may block.
    pub fn spawn_blocking<F, T>(&self, job: F) -> BlockingHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.handle.spawn_blocking(job)
    }

    /// Makes this the runtime that free functions use on this thread, until
    /// the guard is dropped.
    pub fn enter(&self) -> EnterGuard<'_> {
        self.handle.enter()
    }

    /// Returns a handle, for other threads and for later.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        let _ = &self.workers;
        todo!("milestone 2: end everything, and wait for it")
    }
}

impl Builder {
    /// Starts the workers.
    ///
    /// # Errors
    ///
    /// When a thread can't be started, or can't have its name because that
    /// contains a NUL. The threads that have started are ended.
    pub fn build(&mut self) -> io::Result<Runtime> {
        let default = Self::new().global_queue_interval;
        if self.global_queue_interval != default {
            // A single queue has no interval.
            todo!("milestone 3: queues of their own for the workers")
        }
        let shared = Arc::new(Shared::new(self));
        if self.thread_name.contains('\0') {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut runtime = Runtime {
            handle: Handle { shared },
            workers: Vec::new(),
        };
        for index in 0..self.worker_threads {
            let worker = Worker::new(runtime.handle.shared.clone(), index);
            let thread = thread::Builder::new().name(self.thread_name.clone());
            runtime.workers.push(thread.spawn(move || worker.run())?);
        }
        Ok(runtime)
    }
}

/// Spawns on a runtime from anywhere. It doesn't keep the runtime alive.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

impl Handle {
    /// Spawns a task.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        drop(future);
        todo!("make a task, and queue it")
    }

    /// Runs `job` on a thread where it may block.
    pub fn spawn_blocking<F, T>(&self, job: F) -> BlockingHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let _ = job;
        todo!("let the job enter the runtime, and give it to the pool")
    }

    /// Makes this the runtime that free functions use on this thread, until
    /// the guard is dropped.
    pub fn enter(&self) -> EnterGuard<'_> {
        EnterGuard::new(self.shared.clone())
    }
}

/// Spawns a task on the runtime of this thread.
///
/// # Panics
///
/// Where there's no runtime.
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    drop(future);
    todo!("find the runtime, and spawn there")
}

/// Runs `job` on a thread of this thread's runtime where it may block.
///
/// # Panics
///
/// Where there's no runtime.
pub fn spawn_blocking<F, T>(job: F) -> BlockingHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let _ = job;
    todo!("find the runtime, and give the job to its pool")
}

/// A future that is ready once `duration` has passed since this call.
///
/// # Panics
///
/// Where there's no runtime.
pub fn sleep(duration: Duration) -> Sleep {
    let _ = duration;
    todo!("find the runtime, and ask its timers")
}
