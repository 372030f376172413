//! Breaks clause 7: Every n-th.
//! Caught by: every_nth_tick_yields_and_no_other
//! Also fails: a_tick_that_is_over_stays_over
//! Also fails: a_period_of_tens_of_thousands_comes_round
//! Also fails: a_tick_in_between_touches_no_waker
//! Also fails: the_longest_period_counts_as_any_other
//! Also fails: each_counter_counts_for_itself
//! Also fails: a_counter_goes_on_counting_on_another_thread
//!
//! "Divisible by n" is a neat test, and zero is divisible by all n. So the first
//! tick yields, in each task anew. Who starts many short tasks yields in each of
//! them, whatever n is.

use std::marker::PhantomData;
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
        let yields = self.count.is_multiple_of(self.n);
        self.count = self.count.wrapping_add(1);
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
