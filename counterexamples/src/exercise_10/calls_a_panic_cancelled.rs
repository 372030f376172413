//! Breaks clause 9: Panics.
//! Caught by: a_panic_reaches_the_handle_and_nobody_else
//!
//! Workers catch what a poll throws, so the work need not. The completer is
//! dropped as the panic unwinds, and a dropped completer cancels: the handle is
//! ready, and nobody hears what went wrong.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;

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
        let output = future.await;
        // The future is gone: who awaits the handle can rely on it.
        completer.complete(Ok(output));
    };
    (Box::pin(work), handle)
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
