//! Breaks clause 1: Never blocks.
//! Caught by: spawning_and_polling_wait_for_no_job
//! Also fails: a_waker_that_panics_when_it_is_dropped_ends_no_thread
//! Also fails: what_panics_after_the_job_on_rayon_ends_no_process
//! Also fails: what_a_job_leaves_may_drop_its_own_pool
//! Also fails: a_waker_that_is_dropped_as_the_job_ends_may_poll_the_handle
//! Also fails: a_waker_may_drop_the_pool_when_its_handle_is_dropped
//! Also fails: a_waker_is_compared_with_the_clone_that_is_kept
//! Also fails: a_waker_may_drop_the_pool_when_it_is_dropped
//! Also fails: the_waker_of_the_last_poll_is_woken
//! Also fails: wakers_without_data_are_told_apart
//! Also fails: what_is_thrown_may_panic_in_turn
//! Also fails: what_panics_after_the_job_costs_no_thread
//! Also fails: a_thread_that_calls_a_waker_is_not_idle
//!
//! The handle is a channel, and its poll receives. That is right, but it blocks
//! the thread that polls, and with it each task there.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context, Poll};
use std::time::Duration;

pub use super::JoinError;

/// Runs jobs that block on threads of its own.
pub struct Pool(spawn_blocking::Pool);

impl Pool {
    /// Makes a pool that starts its threads when there are jobs for them.
    pub fn new(max_threads: usize, keep_alive: Duration) -> Self {
        Self(spawn_blocking::Pool::new(max_threads, keep_alive))
    }

    /// Runs `job` on a thread of the pool.
    pub fn spawn_blocking<F, T>(&self, job: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let (job, handle) = prepare(job);
        self.0.spawn_blocking(job);
        handle
    }
}

/// Runs `job` on rayon's global pool.
pub fn spawn_rayon<F, T>(job: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (job, handle) = prepare(job);
    spawn_blocking::spawn_rayon(job);
    handle
}

/// Awaits what a job returns. To drop it detaches the job.
pub struct JoinHandle<T>(mpsc::Receiver<Result<T, JoinError>>);

fn prepare<F, T>(job: F) -> (impl FnOnce() + Send, JoinHandle<T>)
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (tell, told) = mpsc::channel();
    let job = move || {
        let result = catch_unwind(AssertUnwindSafe(job));
        let _ = tell.send(result.map_err(JoinError::of_panic));
    };
    (job, JoinHandle(told))
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        let told = self.0.recv();
        Poll::Ready(told.unwrap_or_else(|_| Err(JoinError::cancelled())))
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/06-spawn-blocking/src/tests/mod.rs"]
mod tests;
