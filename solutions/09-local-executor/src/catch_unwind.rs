//! A future, and what is to be done when it is over.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::{Completer, JoinError, JoinHandle, outcome};

/// Makes a job of a future, and the handle to await what the future returns. A
/// job is `Send` if the future is, and what it returns.
pub fn job<F: Future>(future: F) -> (CatchUnwind<F>, JoinHandle<F::Output>) {
    let (completer, handle) = outcome();
    let job = CatchUnwind {
        future: Some(future),
        completer: Some(completer),
    };
    (job, handle)
}

/// Runs a future, keeps its panics, and passes on the result: so it is a future
/// of nothing, like any other job, whoever runs it.
#[must_use = "a job does nothing unless it is polled"]
pub struct CatchUnwind<F: Future> {
    /// Pinned with the job. `None` when it is over.
    future: Option<F>,
    completer: Option<Completer<F::Output>>,
}

// ANCHOR: poll
impl<F: Future> Future for CatchUnwind<F> {
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
        // What the future owns is free before anybody hears of its end. If
        // that panics, there is a result all the same.
        let dropped = catch_unwind(AssertUnwindSafe(|| future.set(None)));
        dropped.unwrap_or_else(mem::forget);
        if let Some(completer) = this.completer.take() {
            completer.complete(result);
        }
        Poll::Ready(())
    }
}
// ANCHOR_END: poll
