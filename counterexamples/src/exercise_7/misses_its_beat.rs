//! Breaks clause 10: Dropped ticks.
//! Caught by: a_tick_dropped_halfway_does_not_stop_the_count
//!
//! Sets the count back when the yield is over. If the tick is dropped before, the
//! count stands at n; the next tick makes it n + 1, and it never is n again.

use std::num::NonZeroU32;
use std::pin::Pin;
use std::task::{Context, Poll};

use yield_now::YieldNow;
pub use yield_now::yield_now;

/// Counts steps, and yields at every n-th.
pub struct EveryNth {
    n: u32,
    count: u32,
}

impl EveryNth {
    /// Makes a counter of which every `n`-th tick yields.
    pub fn new(n: NonZeroU32) -> Self {
        Self {
            n: n.get(),
            count: 0,
        }
    }

    /// Counts one step.
    pub fn tick(&mut self) -> Tick<'_> {
        self.count = self.count.wrapping_add(1);
        Tick {
            yielding: (self.count == self.n).then(yield_now),
            counter: self,
        }
    }
}

/// The future of [`EveryNth::tick`].
#[must_use = "a tick yields where it is awaited"]
pub struct Tick<'a> {
    yielding: Option<YieldNow>,
    counter: &'a mut EveryNth,
}

impl Future for Tick<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Tick { yielding, counter } = &mut *self;
        let Some(yielding) = yielding else {
            return Poll::Ready(());
        };
        let polled = Pin::new(yielding).poll(cx);
        if polled.is_ready() {
            counter.count = 0;
        }
        polled
    }
}

#[cfg(test)]
#[path = "../../../exercises/07-yield-now/src/tests/mod.rs"]
mod tests;
