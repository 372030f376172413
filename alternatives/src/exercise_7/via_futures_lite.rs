//! Another correct design: futures-lite's `yield_now`, and a counter that
//! counts up.

use std::num::NonZeroU32;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_lite::future::{self, YieldNow};

/// Lets the executor's other tasks run.
pub fn yield_now() -> YieldNow {
    future::yield_now()
}

/// Counts steps, and yields at every n-th step.
pub struct EveryNth {
    n: NonZeroU32,
    count: u32,
}

impl EveryNth {
    /// Creates a counter whose every `n`-th tick yields.
    pub fn new(n: NonZeroU32) -> Self {
        Self { n, count: 0 }
    }

    /// Counts one step.
    pub fn tick(&mut self) -> Tick {
        self.count += 1;
        if self.count < self.n.get() {
            return Tick::InBetween;
        }
        self.count = 0;
        Tick::Nth(yield_now())
    }
}

/// The future of [`EveryNth::tick`]. It needs nothing from its counter.
#[must_use = "a tick yields where it is awaited"]
pub enum Tick {
    /// Ready at once.
    InBetween,
    /// Yields.
    Nth(YieldNow),
}

impl Future for Tick {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match &mut *self {
            Self::InBetween => Poll::Ready(()),
            Self::Nth(yielding) => Pin::new(yielding).poll(cx),
        }
    }
}

#[cfg(test)]
#[path = "../../../exercises/07-yield-now/src/tests/mod.rs"]
mod tests;
