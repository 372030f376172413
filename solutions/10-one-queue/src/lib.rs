//! Solution 10: a thread pool for tasks, with one queue for all workers.
//!
//! One lock guards what must be true together: the queue, the number of
//! sleeping workers, and whether the pool has ended. A worker that finds the
//! queue empty goes to sleep without releasing the lock in between, so no task
//! can come into the queue unseen. The lock is never held while a task is
//! polled or dropped, because that runs arbitrary code.
//!
//! Each task has a lock of its own, for its stage. No thread ever holds both.
//!
//! *Memory ordering.* The poll after a wake-up sees what was written before it,
//! and each poll sees what the previous one wrote, on any worker: both go
//! through the task's lock.

mod pool;
mod shared;
mod task;
mod work;

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/10-one-queue/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/10-one-queue/src/tests/mod.rs"]
mod tests;

pub use local_executor::{JoinError, JoinHandle};

pub use pool::Handle;
/// Runs tasks on threads of its own, the workers.
///
/// # Contract
///
/// 1. **Workers.** A task is polled by the workers of its own pool, as many
///    threads as [`Pool::new`] was asked for, and by no other thread. Spawning
///    or waking a task doesn't wait for a poll.
/// 2. **One at a time.** A task is polled by one worker at a time, and each
///    poll sees what the previous one has written.
/// 3. **All workers.** No task waits while a worker has none, no matter where
///    the task was spawned or woken. As many tasks as there are workers can
///    wait for one another within their polls.
/// 4. **No lost task.** A task that becomes ready while a worker goes to sleep
///    is polled.
/// 5. **Wake-ups.** A wake-up from any thread leads to a poll that begins after
///    it, even if it comes during a poll. Wake-ups that come before that poll
///    cause no other.
/// 6. **In turn.** Workers take the tasks in the order in which they became
///    ready. A task that was woken during its poll becomes ready at the end of
///    that poll.
/// 7. **The handle.** A handle is ready when its task has ended, and gives its
///    output. A task whose handle is dropped continues to run.
/// 8. **The end.** A task that was ready isn't polled again. Its future is
///    dropped once, before its handle is ready, even if wakers are left. When
///    the wakers and the handle are gone, so is the whole task.
/// 9. **Panics.** The panic of a poll reaches the handle and nothing else. Any
///    other panic, of the destructor of a future or of an output, or of a
///    waker, goes no further: neither to a worker, nor to the thread that drops
///    the pool.
/// 10. **Idle.** A worker without a task sleeps.
/// 11. **Shutdown.** Dropping the pool drops all its futures, including those
///     of tasks that wait for a waker; their handles are ready, as cancelled.
///     It waits for the polls that are running, and until its threads have
///     ended.
/// 12. **From within.** A task that drops its own pool waits for nothing. When
///     its poll ends, so does the task. A task that drops another pool waits
///     like any other caller.
/// 13. **Too late.** Spawning while the pool ends, or later, drops the future.
///     Its handle is ready, as cancelled.
///
/// # Examples
///
/// ```
/// let pool = solution_10::Pool::new(4);
/// let sum = pool.spawn(async { (1..=100).sum::<u32>() });
/// assert_eq!(block_on::block_on(sum).unwrap(), 5_050);
/// ```
pub use pool::Pool;
