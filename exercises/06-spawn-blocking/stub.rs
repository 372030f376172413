//! Exercise 6: a pool of threads for jobs that block, and a bridge to rayon.
//!
//! The chapter is `src/blocking/spawn-blocking.md`. Check yourself with
//! `cargo test -p exercise-6`, and then try every interleaving:
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

/// Runs blocking jobs on threads of its own, so that the threads that run tasks
/// don't have to block.
///
/// # Contract
///
/// 1. **Never blocks.** Neither [`Pool::spawn_blocking`] nor a poll of a
///    [`JoinHandle`] waits for a job, and no job runs on the thread that
///    submits it.
/// 2. **Cap.** At most `max_threads` jobs run at the same time, on at most as
///    many threads. A thread that is leaving no longer counts.
/// 3. **In parallel.** No job waits while fewer than `max_threads` run, no
///    matter whether threads sleep or must be started: that many jobs can wait
///    for one another. For each job that would otherwise wait, a thread is
///    woken or started, and this waits for no other job to end.
/// 4. **Order.** Threads take up the jobs in the order of their submission. A
///    job that is handed to a thread, woken or new, has been taken up.
/// 5. **Every job runs.** A job runs once, unless clause 10 or 11 cancels it,
///    even if its handle has been dropped, if another job has submitted it, or
///    if a thread was just leaving.
/// 6. **The handle.** A handle is ready when its job has ended, and gives what
///    the job has returned. It calls the waker of its last poll. A waker may
///    wait for the job or drop the pool when it's cloned or dropped.
/// 7. **Panics.** A job's panic reaches the handle and nothing else. The thread
///    survives it, and any panic after the job: of a result's destructor, of a
///    waker, or of what one of these has thrown. Other crates create the same
///    errors with [`JoinError::panicked`] and [`JoinError::cancelled`].
/// 8. **Idle.** A thread without a job sleeps.
/// 9. **Keep-alive.** A thread that has had no job for `keep_alive` leaves;
///    until then, it takes the next job. A wake-up in vain may restart the
///    time. If all have left, a job starts a thread. Any `Duration` is allowed.
/// 10. **Shutdown.** Dropping the pool waits until all jobs have run, including
///     those in the queue, and until its threads have ended, even one that was
///     just leaving. [`Pool::shut_down`] does the same through a reference, for
///     each thread that calls it, and cancels the jobs that are submitted once
///     it has begun. A job that ends its own pool waits for nothing; the other
///     jobs still run.
/// 11. **No thread to be had.** If the system can't start a thread for it, a
///     job waits for the existing ones. If there are none, it's cancelled, and
///     its handle says so, even if what the job owns panics when it's dropped.
///     The next job tries again to start a thread, at least for itself.
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
    /// Creates a pool that starts its threads when there are jobs for them.
    ///
    /// # Panics
    ///
    /// Panics if `max_threads` is zero.
    pub fn new(max_threads: usize, keep_alive: Duration) -> Self {
        let _ = (max_threads, keep_alive);
        todo!("create what the pool shares with its threads")
    }

    /// Runs `job` on a thread of the pool. The handle is a future of the job's
    /// result; a dropped handle detaches the job.
    pub fn spawn_blocking<F, T>(&self, job: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        drop(job);
        todo!("put the job into the queue, and make sure that a thread comes")
    }

    /// Does what dropping the pool does, but through a reference, for a pool
    /// that is shared: waits until all jobs have run and all threads have
    /// ended. A job that is submitted from now on is cancelled.
    pub fn shut_down(&self) {
        todo!("set the flag, wake the threads that sleep, and join them all")
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shut_down();
    }
}

/// Awaits what a job returns. Dropping it detaches the job, which still runs.
/// The contract leaves open what a poll does after the handle was ready.
pub struct JoinHandle<T> {
    _output: PhantomData<fn() -> T>,
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let _ = cx;
        todo!("return the result; if there is none yet, keep the waker")
    }
}

/// Why there is no result.
pub struct JoinError {}

impl JoinError {
    /// Creates the error of a job that has panicked with `payload`. Exercises 9
    /// and 12 create such errors for their tasks.
    pub fn panicked(payload: Box<dyn Any + Send>) -> Self {
        drop(payload);
        todo!("keep the payload")
    }

    /// Creates the error of a job, or of a task, that won't run to its end.
    pub fn cancelled() -> Self {
        todo!("an error without a payload")
    }

    /// Returns `true` if the job has panicked.
    pub fn is_panic(&self) -> bool {
        todo!("distinguish a panic from a cancelled job")
    }

    /// Returns `true` if the job hasn't run, and won't run.
    pub fn is_cancelled(&self) -> bool {
        todo!("distinguish a cancelled job from a panic")
    }

    /// Returns the payload of the job's panic, for example for
    /// [`std::panic::resume_unwind`].
    ///
    /// # Panics
    ///
    /// Panics if the job hasn't panicked.
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        todo!("return what `catch_unwind` has caught")
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
/// 12. **On rayon.** The job runs on one of rayon's threads, in the global pool
///     unless another pool's thread submits it, so that it can use all of
///     rayon. The submitter doesn't wait for it, and its handle keeps clauses 6
///     and 7: rayon itself would abort the process.
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
    todo!("give rayon a job that can't panic, and return the handle")
}
