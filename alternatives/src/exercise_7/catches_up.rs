//! Another correct design: after a tick that was dropped halfway, the next tick
//! yields in its place. The waker is cloned and woken by value.

use std::num::NonZeroU32;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Lets the executor's other tasks run.
pub fn yield_now() -> YieldNow {
    YieldNow { polls_left: 1 }
}

/// The future of [`yield_now()`].
#[must_use = "a yield takes place where it is awaited"]
pub struct YieldNow {
    polls_left: u8,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(polls_left) = self.polls_left.checked_sub(1) else {
            return Poll::Ready(());
        };
        self.polls_left = polls_left;
        let waker = cx.waker().clone();
        waker.wake();
        Poll::Pending
    }
}

/// Counts steps, and yields at every n-th step.
pub struct EveryNth {
    n: u32,
    /// Steps since the last yield that ended.
    count: u32,
}

impl EveryNth {
    /// Creates a counter whose every `n`-th tick yields.
    pub fn new(n: NonZeroU32) -> Self {
        Self {
            n: n.get(),
            count: 0,
        }
    }

    /// Counts one step.
    pub fn tick(&mut self) -> Tick<'_> {
        self.count = self.count.saturating_add(1);
        Tick {
            yielding: (self.count >= self.n).then(yield_now),
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
