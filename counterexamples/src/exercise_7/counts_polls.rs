//! Breaks clause 7: Every n-th.
//! Caught by: every_nth_tick_yields_and_no_other
//! Also fails: a_tick_that_is_over_stays_over
//! Also fails: a_task_pays_one_poll_for_each_nth_tick
//! Also fails: each_counter_counts_for_itself
//! Also fails: a_counter_goes_on_counting_on_another_thread
//!
//! Counts in `poll`, where a yield passes twice. After the first period each is
//! one tick too short.

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
        Tick {
            counter: self,
            yielding: yield_now(),
        }
    }
}

/// The future of [`EveryNth::tick`].
#[must_use = "a tick yields where it is awaited"]
pub struct Tick<'a> {
    counter: &'a mut EveryNth,
    yielding: YieldNow,
}

impl Future for Tick<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Tick { counter, yielding } = &mut *self;
        counter.count += 1;
        if counter.count < counter.n {
            return Poll::Ready(());
        }
        let polled = Pin::new(yielding).poll(cx);
        if polled.is_pending() {
            counter.count = 0;
        }
        polled
    }
}

#[cfg(test)]
#[path = "../../../exercises/07-yield-now/src/tests/mod.rs"]
mod tests;
