//! Exercise 10: a thread pool for tasks, with one queue for all workers.
//!
//! The chapter is `src/scheduler/one-queue.md`. Check yourself with
//! `cargo test -p exercise-10`, and then let every order of events be tried:
//! `cargo test -p exercise-10 --features loom`.
//!
//! Import from `primitives` what you would import from `std::sync` and
//! `std::thread`; only what becomes a waker stays in a [`std::sync::Arc`]. The
//! crate `local_executor` is the solution of exercise 9: its `job` makes of a
//! future one of nothing that never panics, and the handle to await the output.

#[cfg(all(test, feature = "loom"))]
mod models;
#[cfg(all(test, not(feature = "loom")))]
mod tests;

pub use local_executor::{JoinError, JoinHandle};

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
/// ```no_run
/// let pool = exercise_10::Pool::new(4);
/// let sum = pool.spawn(async { (1..=100).sum::<u32>() });
/// assert_eq!(block_on::block_on(sum).unwrap(), 5_050);
/// ```
pub struct Pool {}

impl Pool {
    /// Makes a pool and starts its workers.
    ///
    /// # Panics
    ///
    /// If `workers` is zero, or if the system has not so many threads.
    pub fn new(workers: usize) -> Self {
        let _ = workers;
        todo!("make what the workers share, and start them")
    }

    /// Runs `future` as a task of the pool. The handle is a future of its
    /// output; a dropped handle detaches the task.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        drop(future);
        todo!("make a task of it, put that in the queue, and wake a worker")
    }

    /// Returns a handle to spawn by where the pool is out of reach.
    pub fn handle(&self) -> Handle {
        todo!("share what the workers share")
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        todo!("tell the workers, drop all futures, and join the threads")
    }
}

/// Spawns onto a [`Pool`], from any thread. It does not keep the pool running.
#[derive(Clone)]
pub struct Handle {}

impl Handle {
    /// Runs `future` as a task of the pool, as [`Pool::spawn`] does.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        drop(future);
        todo!("the same as `Pool::spawn`, unless the pool has ended")
    }
}
