//! Breaks clause 7: Every n-th.
//! Caught by: every_nth_tick_yields_and_no_other
//! Also fails: a_tick_that_is_over_stays_over
//! Also fails: a_period_of_tens_of_thousands_comes_round
//! Also fails: a_task_pays_one_poll_for_each_nth_tick
//! Also fails: each_counter_counts_for_itself
//! Also fails: a_counter_goes_on_counting_on_another_thread
//! Also fails: a_tick_dropped_halfway_does_not_stop_the_count
//!
//! The count is in the tick, which is made anew for each step. It never reaches
//! n, and nothing ever yields. Only the others notice.

use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::task::{Context, Poll};

use yield_now::YieldNow;
pub use yield_now::yield_now;

/// Counts steps, and yields at every n-th.
pub struct EveryNth {
    n: u32,
}

impl EveryNth {
    /// Makes a counter of which every `n`-th tick yields.
    pub fn new(n: NonZeroU32) -> Self {
        Self { n: n.get() }
    }

    /// Counts one step.
    pub fn tick(&mut self) -> Tick<'_> {
        Tick {
            n: self.n,
            count: 0,
            yielding: yield_now(),
            _counter: PhantomData,
        }
    }
}

/// The future of [`EveryNth::tick`].
#[must_use = "a tick yields where it is awaited"]
pub struct Tick<'a> {
    n: u32,
    count: u32,
    yielding: YieldNow,
    _counter: PhantomData<&'a mut EveryNth>,
}

impl Future for Tick<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.count += 1;
        if self.count < self.n {
            return Poll::Ready(());
        }
        Pin::new(&mut self.yielding).poll(cx)
    }
}

#[cfg(test)]
#[path = "../../../exercises/07-yield-now/src/tests/mod.rs"]
mod tests;
