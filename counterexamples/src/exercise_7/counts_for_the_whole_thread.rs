//! Breaks clause 9: Its own count.
//! Caught by: each_counter_counts_for_itself
//! Also fails: a_counter_goes_on_counting_on_another_thread
//!
//! The tasks of a thread share it, so they share the count too: every n-th step
//! of the thread yields, whoever makes it. Two tasks that step in turn, with an
//! even n, and it is always the same one that yields.

use std::cell::Cell;
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::task::{Context, Poll};

use yield_now::YieldNow;
pub use yield_now::yield_now;

thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(0) };
}

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
        COUNT.set(COUNT.get() + 1);
        let yields = COUNT.get() >= self.n;
        if yields {
            COUNT.set(0);
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
