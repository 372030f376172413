//! Breaks clause 8: The end.
//! Caught by: the_future_is_gone_when_the_handle_is_ready
//!
//! The future is pinned once, for all of the work, and so it lives as long as
//! the work: until after the handle has been completed. Whoever awaits the
//! handle may find that the file is still open, and the lock still held.

use std::future::poll_fn;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use local_executor::outcome;

pub use local_executor::{JoinError, JoinHandle};
pub use pool::{Handle, Pool};

/// What this version has of its own.
mod work {
    pub(super) use super::{Work, drop_quietly, work};
}

/// A spawned future that completes its handle, in the end.
type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Makes the work of a future, and the handle of its output. Work that is
/// dropped before its end is cancelled.
fn work<F>(future: F) -> (Work, JoinHandle<F::Output>)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let (completer, handle) = outcome();
    let work = async move {
        let mut future = pin!(future);
        let result = poll_fn(|cx| caught(future.as_mut(), cx)).await;
        completer.complete(result);
    };
    (Box::pin(work), handle)
}

/// Polls a future, and makes a result of its panic.
fn caught<F: Future>(
    future: Pin<&mut F>,
    cx: &mut Context<'_>,
) -> Poll<Result<F::Output, JoinError>> {
    match catch_unwind(AssertUnwindSafe(|| future.poll(cx))) {
        Ok(poll) => poll.map(Ok),
        Err(payload) => Poll::Ready(Err(JoinError::panicked(payload))),
    }
}

/// Drops what belongs to a task. Its destructors are anybody's code: they run
/// without a lock, and their panics end here.
fn drop_quietly<T>(what: T) {
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(what)));
    // What was thrown may panic in turn when it is dropped.
    dropped.unwrap_or_else(mem::forget);
}

#[path = "../../../solutions/10-one-queue/src/pool.rs"]
mod pool;
#[path = "../../../solutions/10-one-queue/src/shared.rs"]
mod shared;
#[path = "../../../solutions/10-one-queue/src/task.rs"]
mod task;

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/10-one-queue/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/10-one-queue/src/tests/mod.rs"]
mod tests;
