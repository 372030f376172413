//! What is polled for a task: its future, and what becomes of the output.

use std::future::poll_fn;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use local_executor::{JoinError, JoinHandle, outcome};

/// A spawned future that completes its handle, in the end.
pub type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Makes the work of a future, and the handle of its output. Work that is
/// dropped before its end is cancelled.
// ANCHOR: work
pub fn work<F>(future: F) -> (Work, JoinHandle<F::Output>)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let (completer, handle) = outcome();
    let work = async move {
        let result = {
            let mut future = pin!(future);
            poll_fn(|cx| caught(future.as_mut(), cx)).await
        };
        // The future is gone: who awaits the handle can rely on it.
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
// ANCHOR_END: work

/// Drops what belongs to a task. Its destructors are anybody's code: they run
/// without a lock, and their panics end here.
pub fn drop_quietly<T>(what: T) {
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(what)));
    // What was thrown may panic in turn when it is dropped.
    dropped.unwrap_or_else(mem::forget);
}
