//! Breaks clause 8: Free in between.
//! Caught by: ticks_in_between_allocate_nothing
//!
//! Two kinds of future, one that is ready and one that yields, behind one boxed
//! type. The box costs more than the step that it counts.

use std::num::NonZeroU32;
use std::pin::Pin;
use std::task::{Context, Poll};

pub use yield_now::yield_now;

/// Counts steps, and yields at every n-th.
pub struct EveryNth {
    n: u32,
    count: u32,
}

/// The future of [`EveryNth::tick`].
#[must_use = "a tick yields where it is awaited"]
pub struct Tick<'a>(Pin<Box<dyn Future<Output = ()> + Send + 'a>>);

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
        Tick(Box::pin(async {
            self.count += 1;
            if self.count == self.n {
                self.count = 0;
                yield_now().await;
            }
        }))
    }
}

impl Future for Tick<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

#[cfg(test)]
#[path = "../../../exercises/07-yield-now/src/tests/mod.rs"]
mod tests;
