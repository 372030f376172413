//! Breaks clause 7: Every n-th.
//! Caught by: every_nth_tick_yields_and_no_other
//! Also fails: a_tick_that_yields_is_a_yield
//! Also fails: a_tick_that_is_over_stays_over
//! Also fails: a_period_of_tens_of_thousands_comes_round
//! Also fails: a_task_pays_one_poll_for_each_nth_tick
//! Also fails: each_counter_counts_for_itself
//! Also fails: a_counter_goes_on_counting_on_another_thread
//! Also fails: a_tick_dropped_halfway_does_not_stop_the_count
//!
//! Compares the count with n before it counts the step: every tick after n
//! others yields, which is the n+1st.

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
        let yields = self.count == self.n;
        self.count = if yields { 0 } else { self.count + 1 };
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
