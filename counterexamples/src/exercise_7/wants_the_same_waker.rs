//! Breaks clause 5: Any executor.
//! Caught by: the_second_poll_may_bring_another_waker
//! Also fails: a_yield_keeps_no_waker
//!
//! Ready only for the waker that it has called, so that a poll on behalf of
//! somebody else does not count. A task whose waker changes in between waits for
//! ever.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

pub use yield_now::EveryNth;

/// Gives the executor's other tasks a turn.
pub fn yield_now() -> YieldNow {
    YieldNow { called: None }
}

/// The future of [`yield_now()`].
#[must_use = "a yield takes place where it is awaited"]
pub struct YieldNow {
    called: Option<Waker>,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(called) = &self.called {
            return match called.will_wake(cx.waker()) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            };
        }
        self.called.insert(cx.waker().clone()).wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
#[path = "../../../exercises/07-yield-now/src/tests/mod.rs"]
mod tests;
