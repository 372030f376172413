//! Exercise 10: a thread pool for tasks, with one queue for all workers.
//!
//! The chapter is `src/scheduler/one-queue.md`. Check yourself with
//! `cargo test -p exercise-10`, and then try every interleaving:
//! `cargo test -p exercise-10 --features loom`.
//!
//! Import from `primitives` what you would import from `std::sync` and
//! `std::thread`; only a type that you turn into a waker stays in a
//! [`std::sync::Arc`]. The crate `local_executor` is the solution of exercise
//! 9: its `job` turns a future into one that has no output and whose `poll`
//! never panics, and a handle that awaits the output. Dropping it before it's
//! ready drops the future, whose destructor may panic.

#[cfg(all(test, feature = "loom"))]
mod models;
#[cfg(all(test, not(feature = "loom")))]
mod tests;

pub use local_executor::{JoinError, JoinHandle};

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
/// ```no_run
/// let pool = exercise_10::Pool::new(4);
/// let sum = pool.spawn(async { (1..=100).sum::<u32>() });
/// assert_eq!(block_on::block_on(sum).unwrap(), 5_050);
/// ```
pub struct Pool {}

impl Pool {
    /// Creates a pool and starts its workers.
    ///
    /// # Panics
    ///
    /// Panics if `workers` is zero, or if the system can't start that many
    /// threads.
    pub fn new(workers: usize) -> Self {
        let _ = workers;
        todo!("create what the workers share, and start them")
    }

    /// Runs `future` as a task of the pool. The handle is a future of its
    /// output; a dropped handle detaches the task.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        drop(future);
        todo!("create a task, put it into the queue, and wake a worker")
    }

    /// Returns a handle for spawning where the pool is out of reach.
    pub fn handle(&self) -> Handle {
        todo!("clone what the workers share")
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        todo!("notify the workers, drop all futures, and join the threads")
    }
}

/// Spawns onto a [`Pool`], from any thread. It doesn't keep the pool running.
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
