//! Breaks clause 7: Every n-th.
//! Caught by: the_longest_period_counts_as_any_other
//! Also fails: a_period_of_tens_of_thousands_comes_round
//!
//! Keeps the counter small, since each task has one, and cuts off what does not
//! fit. A period of a thousand becomes 232.

use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::task::{Context, Poll};

use yield_now::YieldNow;
pub use yield_now::yield_now;

/// Counts steps, and yields at every n-th.
pub struct EveryNth {
    n: u8,
    count: u8,
}

impl EveryNth {
    /// Makes a counter of which every `n`-th tick yields.
    pub fn new(n: NonZeroU32) -> Self {
        Self {
            n: n.get() as u8,
            count: 0,
        }
    }

    /// Counts one step.
    pub fn tick(&mut self) -> Tick<'_> {
        self.count = self.count.wrapping_add(1);
        let yields = self.count == self.n;
        if yields {
            self.count = 0;
        }
        Tick {
            yielding: yields.then(yield_now),
            _counter: PhantomData,
        }
    }
}

/// The future of [`EveryNth::tick`].
#[must_use = "a tick yields where it is awaited"]
pub struct Tick<'a> {
    yielding: Option<YieldNow>,
    _counter: PhantomData<&'a mut EveryNth>,
}

impl Future for Tick<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.yielding {
            None => Poll::Ready(()),
            Some(yielding) => Pin::new(yielding).poll(cx),
        }
    }
}

#[cfg(test)]
#[path = "../../../exercises/07-yield-now/src/tests/mod.rs"]
mod tests;
