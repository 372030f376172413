//! Another correct design: tokio's `yield_now`, which leaves the wake-up to the
//! runtime. Outside a runtime, it wakes at once.
//!
//! Its future's type has no name, and the future must not move, so it's boxed:
//! a yield allocates. If it's polled again after it was ready, it panics.

use std::num::NonZeroU32;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::task;

/// Lets the executor's other tasks run.
pub fn yield_now() -> YieldNow {
    YieldNow(Box::pin(task::yield_now()))
}

/// The future of [`yield_now()`].
#[must_use = "a yield takes place where it is awaited"]
pub struct YieldNow(Pin<Box<dyn Future<Output = ()> + Send>>);

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

/// Counts steps, and yields at every n-th step.
pub struct EveryNth {
    n: NonZeroU32,
    left: u32,
}

impl EveryNth {
    /// Creates a counter whose every `n`-th tick yields.
    pub fn new(n: NonZeroU32) -> Self {
        Self { n, left: n.get() }
    }

    /// Counts one step.
    pub async fn tick(&mut self) {
        self.left -= 1;
        if self.left == 0 {
            self.left = self.n.get();
            yield_now().await;
        }
    }
}

#[cfg(test)]
#[path = "../../../exercises/07-yield-now/src/tests/mod.rs"]
mod tests;
