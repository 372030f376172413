//! Breaks clause 6: The handle.
//! Caught by: models::a_result_reaches_who_awaits_it_in_every_order
//! Also fails: models::a_thread_that_was_woken_in_vain_is_woken_again_in_every_order
//! Also fails: models::a_job_that_comes_as_a_thread_leaves_runs_in_every_order
//! Also fails: models::a_thread_that_was_chosen_as_it_left_is_chosen_again_in_every_order
//! Also fails: models::dropping_the_pool_ends_its_threads_in_every_order
//!
//! Result and waker have a lock each, so that the two sides do not disturb each
//! other. Between the look for the result and the storing of the waker the job may
//! end.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use sync::{Arc, Mutex};

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
pub struct JoinHandle<T>(Arc<Slot<T>>);

/// Ends what a [`JoinHandle`] awaits, at the latest when it is dropped.
struct Promise<T>(Arc<Slot<T>>);

struct Slot<T> {
    result: Mutex<Stage<T>>,
    waker: Mutex<Option<Waker>>,
}

enum Stage<T> {
    Early,
    Ended(Result<T, JoinError>),
    Taken,
}

fn prepare<F, T>(job: F) -> (impl FnOnce() + Send, JoinHandle<T>)
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let slot = Arc::new(Slot {
        result: Mutex::new(Stage::Early),
        waker: Mutex::new(None),
    });
    let promise = Promise(slot.clone());
    let job = move || {
        let result = catch_unwind(AssertUnwindSafe(job));
        promise.end(result.map_err(JoinError::of_panic));
    };
    (job, JoinHandle(slot))
}

impl<T> Promise<T> {
    fn end(&self, result: Result<T, JoinError>) {
        let mut stage = self.0.result.lock().unwrap();
        let Stage::Early = *stage else { return };
        *stage = Stage::Ended(result);
        drop(stage);
        let waker = self.0.waker.lock().unwrap().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.end(Err(JoinError::cancelled()));
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut stage = self.0.result.lock().unwrap();
        if let Stage::Ended(_) = *stage
            && let Stage::Ended(result) =
                mem::replace(&mut *stage, Stage::Taken)
        {
            return Poll::Ready(result);
        }
        drop(stage);
        *self.0.waker.lock().unwrap() = Some(cx.waker().clone());
        Poll::Pending
    }
}

// No tests: on real threads it is a matter of luck which of them hangs.
#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/06-spawn-blocking/src/models.rs"]
mod models;
