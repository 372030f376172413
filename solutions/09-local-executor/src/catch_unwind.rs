//! A future, and what happens when it's over.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::{Completer, JoinError, JoinHandle, outcome};

/// Creates a job from a future, and the handle that awaits what the future
/// returns. A job is `Send` if the future and what it returns are.
pub fn job<F: Future>(future: F) -> (CatchUnwind<F>, JoinHandle<F::Output>) {
    let (completer, handle) = outcome();
    let job = CatchUnwind {
        future: Some(future),
        completer: Some(completer),
    };
    (job, handle)
}

/// Runs a future, catches its panics, and passes on the result. It has no
/// output itself, so an executor can run it like any other job.
#[must_use = "a job does nothing unless it is polled"]
pub struct CatchUnwind<F: Future> {
    /// Pinned with the job. `None` once it's over.
    future: Option<F>,
    completer: Option<Completer<F::Output>>,
}

// ANCHOR: poll
impl<F: Future> Future for CatchUnwind<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: nothing is moved out of the reference except the completer,
        // which isn't pinned.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: the future is pinned with `self`, and nothing moves it out.
        let mut future = unsafe { Pin::new_unchecked(&mut this.future) };
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let future = future.as_mut().as_pin_mut();
            future
                .expect("a job isn't polled after it was ready")
                .poll(cx)
        }));
        let result = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(output)) => Ok(output),
            Err(payload) => Err(JoinError::panicked(payload)),
        };
        // The future's values are dropped before the handle is ready. If that
        // panics, there is a result all the same.
        let dropped = catch_unwind(AssertUnwindSafe(|| future.set(None)));
        dropped.unwrap_or_else(mem::forget);
        if let Some(completer) = this.completer.take() {
            completer.complete(result);
        }
        Poll::Ready(())
    }
}
// ANCHOR_END: poll
