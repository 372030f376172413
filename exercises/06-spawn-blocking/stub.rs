//! Exercise 6: a pool of threads for jobs that block, and a bridge to rayon.
//!
//! The chapter is `src/blocking/spawn-blocking.md`. Check yourself with
//! `cargo test -p exercise-6`, and then let every order of events be tried:
//! `cargo test -p exercise-6 --features loom`.
//!
//! Import from `primitives` what you would import from `std::sync` and
//! `std::thread`, as in exercise 2. The crate `parker` is its solution.

#[cfg(all(test, feature = "loom"))]
mod models;
#[cfg(all(test, not(feature = "loom")))]
mod tests;

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// Runs jobs that block on threads of its own, so that the threads that run
/// tasks need not block.
///
/// # Contract
///
/// 1. **Never blocks.** Neither [`Pool::spawn_blocking`] nor a poll of a
///    [`JoinHandle`] waits for a job, and no job runs on the thread that
///    submits it.
/// 2. **Cap.** At most `max_threads` jobs run at the same time, on so many
///    threads at most. A thread that is leaving no longer counts.
/// 3. **In parallel.** No job waits while fewer than `max_threads` run, whether
///    the threads are to be started or asleep: so many jobs can wait for one
///    another.
/// 4. **Order.** Threads take up the jobs in the order of their submission. One
///    that is handed to a thread, woken or new, has been taken up.
/// 5. **Every job runs.** A job runs once, also if its handle has been dropped,
///    if another job has submitted it, or if a thread was just leaving.
/// 6. **The handle.** A handle is ready when its job has ended, and gives what
///    the job has returned. It wakes the waker of its last poll. A waker may
///    wait for the job or drop the pool when it is cloned or dropped.
/// 7. **Panics.** The panic of a job reaches the handle and nobody else. The
///    thread survives it, and whatever panics after the job: a result in its
///    destructor, a waker, or what one of these has thrown.
/// 8. **Idle.** A thread without a job sleeps.
/// 9. **Keep-alive.** A thread that has had no job for `keep_alive` leaves; one
///    that has not takes the next job. If all have left, the next job starts
///    a thread. Any `Duration` will do.
/// 10. **Shutdown.** Dropping the pool waits until all jobs have run, those in
///     the queue too, and until its threads have ended, also one that was just
///     leaving. A job that drops its own pool waits for nothing; the other jobs
///     run all the same.
/// 11. **No thread to be had.** If the system has no thread for it, a job waits
///     for those that there are. If there are none it is cancelled, which
///     reaches the handle, even if what the job owns panics when it is dropped.
///     The next job tries again to start a thread, for itself at least.
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
///
/// let pool = exercise_6::Pool::new(4, Duration::from_secs(10));
/// let sum = pool.spawn_blocking(|| (1..=100).sum::<u32>());
/// assert_eq!(parker::block_on(sum).unwrap(), 5_050);
/// ```
pub struct Pool {}

impl Pool {
    /// Makes a pool that starts its threads when there are jobs for them.
    ///
    /// # Panics
    ///
    /// If `max_threads` is zero.
    pub fn new(max_threads: usize, keep_alive: Duration) -> Self {
        let _ = (max_threads, keep_alive);
        todo!("make what the pool shares with its threads")
    }

    /// Runs `job` on a thread of the pool. The handle is a future of what it
    /// returns; a dropped handle detaches the job.
    pub fn spawn_blocking<F, T>(&self, job: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        drop(job);
        todo!("put the job in the queue, and see to it that a thread comes")
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        todo!("tell the threads, wake those that sleep, and join them")
    }
}

/// Awaits what a job returns. To drop it detaches the job, which runs on. What
/// a poll does after the handle was ready is left open.
pub struct JoinHandle<T> {
    _output: PhantomData<fn() -> T>,
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let _ = cx;
        todo!("hand over the result; if there is none yet, keep the waker")
    }
}

/// Why there is no result.
pub struct JoinError {}

impl JoinError {
    /// Returns `true` if the job has panicked.
    pub fn is_panic(&self) -> bool {
        todo!("tell a panic from a cancelled job")
    }

    /// Returns `true` if the job has not been run, and will not be.
    pub fn is_cancelled(&self) -> bool {
        todo!("tell a cancelled job from a panic")
    }

    /// Returns what the job has thrown, as for
    /// [`std::panic::resume_unwind`].
    ///
    /// # Panics
    ///
    /// If the job has not panicked.
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        todo!("give away what `catch_unwind` has caught")
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let _ = f;
        todo!("say in a few words why there is no result")
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinError({self})")
    }
}

impl Error for JoinError {}

/// Runs `job` on rayon's global pool.
///
/// # Contract
///
/// 12. **On rayon.** The job runs on a thread of rayon's, of the global pool
///     unless another pool's thread submits it, so that it can use all of
///     rayon. The submitter does not wait for it, and its handle keeps the
///     clauses 6 and 7: rayon itself would end the process.
///
/// # Examples
///
/// ```no_run
/// let job = exercise_6::spawn_rayon(|| rayon::current_num_threads());
/// assert!(parker::block_on(job).unwrap() > 0);
/// ```
pub fn spawn_rayon<F, T>(job: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    drop(job);
    todo!("give rayon a job that cannot panic, and keep the handle")
}
