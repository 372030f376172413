//! The work of a task: its future, and what happens to the output.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;

use local_executor::{JoinHandle, job};

/// A spawned future that completes its handle at its end.
pub type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Creates the work of a future, and the handle of its output. Its polls don't
/// panic. Work that is dropped before its end is cancelled.
// ANCHOR: work
pub fn work<F>(future: F) -> (Work, JoinHandle<F::Output>)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let (job, handle) = job(future);
    (Box::pin(job), handle)
}

/// Drops what belongs to a task. Its destructors may run arbitrary code: they
/// run without a lock, and their panics end here.
pub fn drop_quietly<T>(what: T) {
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(what)));
    // The panic's payload may itself panic when it's dropped.
    dropped.unwrap_or_else(mem::forget);
}
// ANCHOR_END: work
