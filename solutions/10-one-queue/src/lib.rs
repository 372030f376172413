//! Solution 10: a thread pool for tasks, with one queue for all workers.
//!
//! One lock holds what must be true together: the queue, who sleeps, and
//! whether the pool has ended. A worker that finds the queue empty goes to
//! sleep without giving the lock back in between, so nobody can put a task into
//! the queue unseen. The lock is never held while a task is polled or dropped:
//! that is anybody's code.
//!
//! Each task has a lock of its own, for where it stands. Nobody holds both.
//!
//! *Memory ordering.* What was written before a wake-up is seen by the poll
//! after it, and what a poll has written by the next one, on whichever worker:
//! both go through the task's lock.

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
/// 1. **Workers.** A task is polled by the workers of its own pool, so many
///    threads as [`Pool::new`] was told, and by nobody else. To spawn or to
///    wake a task waits for no poll.
/// 2. **One at a time.** A task is polled by one worker at a time, and each
///    poll sees what the one before has written.
/// 3. **All workers.** No task waits while a worker is without one, wherever it
///    was spawned or woken. As many tasks as there are workers can wait for
///    one another within their polls.
/// 4. **No lost task.** A task that becomes ready as a worker falls asleep is
///    polled.
/// 5. **Wake-ups.** A wake-up leads to a poll that begins after it, from
///    whichever thread it comes, and also if it comes during a poll. Wake-ups
///    that come before that poll cause no other.
/// 6. **In turn.** Workers take the tasks in the order in which they became
///    ready. One that was woken during its poll becomes ready at the poll's
///    end.
/// 7. **The handle.** A handle is ready when its task has ended, and gives its
///    output. A task whose handle is dropped runs on.
/// 8. **The end.** A task that was ready is not polled again. Its future is
///    dropped once, before its handle is ready, even if there are wakers
///    still. When those and the handle are gone, so is all of the task.
/// 9. **Panics.** The panic of a poll reaches the handle and nobody else. What
///    panics besides, the destructor of a future or of an output, or a waker,
///    goes no further: not to a worker, and not to who drops the pool.
/// 10. **Idle.** A worker without a task sleeps.
/// 11. **Shutdown.** Dropping the pool drops all its futures, those of tasks
///     that wait for a waker too; their handles are ready, as cancelled. It
///     waits for the polls that run, and until its threads have ended.
/// 12. **From within.** A task that drops its own pool waits for nothing. When
///     its poll ends, so does the task. One that drops another pool waits like
///     anybody else.
/// 13. **Too late.** To spawn while the pool ends, or later, drops the future.
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
