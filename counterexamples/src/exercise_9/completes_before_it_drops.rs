//! Breaks clause 6: Over.
//! Caught by: the_future_is_dropped_when_its_task_is_over
//!
//! The result is handed over first, and the future dropped then. Whoever was
//! woken by the result may find the file still open, or the lock still held.

#[path = "../../../solutions/09-local-executor/src/executor.rs"]
mod executor;
#[path = "../../../solutions/09-local-executor/src/here.rs"]
mod here;
#[path = "../../../solutions/09-local-executor/src/inbox.rs"]
mod inbox;
#[path = "../../../solutions/09-local-executor/src/tasks.rs"]
mod tasks;

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use executor::Core;
pub use executor::LocalExecutor;
pub use here::spawn;
use here::{Here, wake_here};
use inbox::{Inbox, Signal};
pub use local_executor::{Completer, JoinError, JoinHandle, outcome};
use tasks::{Key, Task, Tasks, Turn};

/// Makes a job of a future, and the handle to await what the future returns. A
/// job is `Send` if the future is, and what it returns.
pub fn job<F: Future>(future: F) -> (Job<F>, JoinHandle<F::Output>) {
    let (completer, handle) = outcome();
    let job = Job {
        future: Some(future),
        completer: Some(completer),
    };
    (job, handle)
}

/// Runs a future, keeps its panics, and passes on the result: so it is a future
/// of nothing, like any other job, whoever runs it.
#[must_use = "a job does nothing unless it is polled"]
pub struct Job<F: Future> {
    /// Pinned with the job. `None` when it is over.
    future: Option<F>,
    completer: Option<Completer<F::Output>>,
}

impl<F: Future> Future for Job<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: nothing is moved out of the reference but the completer,
        // which is not pinned.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: the future is pinned with `self`, and moves as little.
        let mut future = unsafe { Pin::new_unchecked(&mut this.future) };
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let future = future.as_mut().as_pin_mut();
            future.expect("a job that is over is not polled").poll(cx)
        }));
        let result = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(output)) => Ok(output),
            Err(payload) => Err(JoinError::panicked(payload)),
        };
        if let Some(completer) = this.completer.take() {
            completer.complete(result);
        }
        let dropped = catch_unwind(AssertUnwindSafe(|| future.set(None)));
        dropped.unwrap_or_else(mem::forget);
        Poll::Ready(())
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/09-local-executor/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/09-local-executor/src/tests/mod.rs"]
mod tests;
