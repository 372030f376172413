//! Another correct design: nothing happens before the first poll, which also
//! counts the tick. A tick that is never polled doesn't count.

use std::num::NonZeroU32;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Lets the executor's other tasks run.
pub fn yield_now() -> YieldNow {
    YieldNow::Fresh
}

/// The future of [`yield_now()`].
#[derive(Clone, Copy, PartialEq)]
#[must_use = "a yield takes place where it is awaited"]
pub enum YieldNow {
    /// Not polled yet.
    // --> Yielded
    Fresh,
    /// Pending, and woken.
    // --> Over
    Yielded,
    /// Was ready.
    Over,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match *self {
            Self::Fresh => {
                *self = Self::Yielded;
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Self::Yielded => {
                *self = Self::Over;
                Poll::Ready(())
            }
            Self::Over => panic!("a yield was polled after it was over"),
        }
    }
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
    pub fn tick(&mut self) -> Tick<'_> {
        Tick::Uncounted(self)
    }
}

/// The future of [`EveryNth::tick`].
#[must_use = "a tick yields where it is awaited"]
pub enum Tick<'a> {
    /// Not polled yet.
    // --> Yielding, Over
    Uncounted(&'a mut EveryNth),
    /// The n-th.
    // --> Over
    Yielding,
    /// Was ready.
    Over,
}

impl Future for Tick<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if let Self::Uncounted(counter) = &mut *self {
            counter.count += 1;
            if counter.count == counter.n.get() {
                counter.count = 0;
                *self = Self::Yielding;
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        *self = Self::Over;
        Poll::Ready(())
    }
}

#[cfg(test)]
#[path = "../../../exercises/07-yield-now/src/tests/mod.rs"]
mod tests;
