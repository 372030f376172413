//! Another correct design: no `unsafe`, since the future is boxed when the
//! budget is created. The stride doubles while it takes little time, and falls
//! back to one when it takes long. The elapsed time is compared with the slice,
//! so that nothing is added to an `Instant`.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use primitives::time::now;

/// Runs `future` so that each of its polls has a time slice.
pub fn with_budget<F: Future>(slice: Duration, future: F) -> WithBudget<F> {
    let future = Box::pin(future);
    WithBudget { slice, future }
}

/// The future of [`with_budget`].
pub struct WithBudget<F> {
    slice: Duration,
    future: Pin<Box<F>>,
}

impl<F: Future> Future for WithBudget<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let outer = RUNNING.get();
        let _restored = Restored(outer);
        RUNNING.set(Some(Budget {
            slice: outer.map_or(self.slice, |it| self.slice.min(it.slice)),
            around: outer.and_then(Budget::running),
            started: None,
            stride: 1,
            passed: 0,
        }));
        self.future.as_mut().poll(cx)
    }
}

/// Lets the task yield if the slice is over.
pub fn checkpoint() -> Checkpoint {
    Checkpoint { has_yielded: false }
}

/// The future of [`checkpoint`].
pub struct Checkpoint {
    has_yielded: bool,
}

impl Future for Checkpoint {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(mut budget) = RUNNING.get() else {
            return Poll::Ready(());
        };
        let is_over = !self.has_yielded && budget.pass();
        RUNNING.set(Some(budget));
        if !is_over {
            return Poll::Ready(());
        }
        self.has_yielded = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

thread_local! {
    static RUNNING: Cell<Option<Budget>> = const { Cell::new(None) };
}

/// Restores what the thread had before.
struct Restored(Option<Budget>);

impl Drop for Restored {
    fn drop(&mut self) {
        let inner = RUNNING.replace(self.0).and_then(|inner| inner.started);
        if let (Some(mut outer), Some((start, _last))) = (self.0, inner) {
            outer.start(start);
            RUNNING.set(Some(outer));
        }
    }
}

#[derive(Clone, Copy)]
struct Budget {
    slice: Duration,
    /// The start and the length of the innermost outer slice that has begun.
    around: Option<(Instant, Duration)>,
    /// When the slice began, and when the clock was last read.
    started: Option<(Instant, Instant)>,
    stride: u32,
    /// Checkpoints since the last reading.
    passed: u32,
}

impl Budget {
    /// Counts a checkpoint. Returns `true` if the slice is over.
    fn pass(&mut self) -> bool {
        self.passed += 1;
        if self.started.is_some() && self.passed < self.stride {
            return false;
        }
        let now = now();
        self.passed = 0;
        let is_first = self.started.is_none();
        let (start, last) = self.start(now);
        if is_first {
            return self.slice.is_zero();
        }
        self.started = Some((start, now));
        self.stride = match now - last {
            took if took >= self.slice / 8 => 1,
            took if took <= self.slice / 32 => (2 * self.stride).min(512),
            _ => self.stride,
        };
        if now - start < self.slice {
            return false;
        }
        self.stride = 1;
        true
    }

    /// Begins the slice if it hasn't begun. It ends with the outer slice at the
    /// latest.
    fn start(&mut self, now: Instant) -> (Instant, Instant) {
        if let (None, Some((start, slice))) = (self.started, self.around) {
            let rest = slice.saturating_sub(now - start);
            self.slice = self.slice.min(rest);
        }
        *self.started.get_or_insert((now, now))
    }

    /// Returns this slice if it has begun, or else the outer one.
    fn running(self) -> Option<(Instant, Duration)> {
        let own = self.started.map(|(start, _last)| (start, self.slice));
        own.or(self.around)
    }
}

#[cfg(test)]
#[path = "../../../exercises/08-budget/src/tests/mod.rs"]
mod tests;
