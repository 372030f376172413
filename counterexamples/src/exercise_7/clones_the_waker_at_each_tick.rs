//! Breaks clause 8: Free in between.
//! Caught by: a_tick_in_between_touches_no_waker
//!
//! Has a waker at hand before it looks whether this tick needs one. A clone is an
//! atomic operation, on a word that all workers share.

use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::task::{Context, Poll};

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
        self.count += 1;
        let yields = self.count == self.n;
        if yields {
            self.count = 0;
        }
        Tick {
            yields,
            was_polled: false,
            _counter: PhantomData,
        }
    }
}

/// The future of [`EveryNth::tick`].
#[must_use = "a tick yields where it is awaited"]
pub struct Tick<'a> {
    yields: bool,
    was_polled: bool,
    _counter: PhantomData<&'a mut EveryNth>,
}

impl Future for Tick<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let waker = cx.waker().clone();
        if !self.yields || self.was_polled {
            return Poll::Ready(());
        }
        self.was_polled = true;
        waker.wake();
        Poll::Pending
    }
}

#[cfg(test)]
#[path = "../../../exercises/07-yield-now/src/tests/mod.rs"]
mod tests;
