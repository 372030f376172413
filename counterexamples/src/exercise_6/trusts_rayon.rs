//! Breaks clause 12: On rayon.
//! Caught by: a_panic_on_rayon_reaches_the_handle
//! Also fails: what_panics_after_the_job_on_rayon_ends_no_process
//! Also fails: a_waker_may_drop_the_pool_when_it_is_cloned
//! Also fails: a_waker_may_drop_the_pool_when_it_is_dropped
//! Also fails: what_is_thrown_may_panic_in_turn
//!
//! Gives the job to rayon as it is. A panic in it is nobody's, and rayon ends the
//! process.

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
    let slot = new_slot();
    let promise = Promise(slot.clone());
    rayon::spawn(move || promise.end(Ok(job())));
    JoinHandle(slot)
}

/// Awaits what a job returns. To drop it detaches the job.
pub struct JoinHandle<T>(Arc<Mutex<Slot<T>>>);

/// Ends what a [`JoinHandle`] awaits, at the latest when it is dropped.
struct Promise<T>(Arc<Mutex<Slot<T>>>);

struct Slot<T> {
    is_ended: bool,
    result: Option<Result<T, JoinError>>,
    waker: Option<Waker>,
}

fn new_slot<T>() -> Arc<Mutex<Slot<T>>> {
    Arc::new(Mutex::new(Slot {
        is_ended: false,
        result: None,
        waker: None,
    }))
}

fn prepare<F, T>(job: F) -> (impl FnOnce() + Send, JoinHandle<T>)
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let slot = new_slot();
    let promise = Promise(slot.clone());
    let job = move || {
        let result = catch_unwind(AssertUnwindSafe(job));
        promise.end(result.map_err(JoinError::of_panic));
    };
    (job, JoinHandle(slot))
}

impl<T> Promise<T> {
    fn end(&self, result: Result<T, JoinError>) {
        let mut slot = self.0.lock().unwrap();
        if slot.is_ended {
            return;
        }
        slot.is_ended = true;
        slot.result = Some(result);
        let waker = slot.waker.take();
        drop(slot);
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
        let mut slot = self.0.lock().unwrap();
        if let Some(result) = slot.result.take() {
            return Poll::Ready(result);
        }
        slot.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/06-spawn-blocking/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/06-spawn-blocking/src/tests/mod.rs"]
mod tests;
