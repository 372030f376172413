//! Another correct design: no stride is kept. From the cost of the items since
//! the last reading follows how many would fit into what is left of the slice,
//! and an eighth of those may pass before the next reading. The clock is
//! therefore read rarely at first, and more and more often toward the end.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// The most items up to the next reading, no matter what they cost.
const MOST: u32 = 300;

/// Runs `future` so that each of its polls has a time slice.
pub fn with_budget<F: Future>(slice: Duration, future: F) -> WithBudget<F> {
    WithBudget { slice, future }
}

/// The future of [`with_budget`].
pub struct WithBudget<F> {
    slice: Duration,
    future: F,
}

impl<F: Future> Future for WithBudget<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let outer = RUNNING.get();
        let _restored = Restored(outer);
        RUNNING.set(Some(Budget {
            slice: outer.map_or(self.slice, |it| self.slice.min(it.slice)),
            limit: outer.map_or(Limit::None, |outer| outer.limit),
            started_at: None,
            read_at: None,
            items: 1,
            items_left: 1,
        }));
        // SAFETY: the future is pinned with `self` and never moved out of it.
        unsafe { self.map_unchecked_mut(|this| &mut this.future) }.poll(cx)
    }
}

/// Lets the task yield if the slice is over.
pub fn checkpoint() -> Checkpoint {
    Checkpoint::New
}

/// The future of [`checkpoint`].
pub enum Checkpoint {
    /// Not polled yet.
    New,
    /// Was pending, or is ready.
    Passed,
}

impl Future for Checkpoint {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if let Self::New = std::mem::replace(&mut *self, Self::Passed)
            && let Some(mut budget) = RUNNING.take()
        {
            let is_over = budget.pass();
            RUNNING.set(Some(budget));
            if is_over {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        Poll::Ready(())
    }
}

thread_local! {
    static RUNNING: Cell<Option<Budget>> = const { Cell::new(None) };
}

/// Restores what the thread had before. If the outer slice hadn't begun, it
/// began with the inner one.
struct Restored(Option<Budget>);

impl Drop for Restored {
    fn drop(&mut self) {
        let inner = RUNNING.get();
        if let Some(outer) = &mut self.0
            && outer.started_at.is_none()
            && let Some(now) = inner.and_then(|inner| inner.started_at)
        {
            outer.start(now);
        }
        RUNNING.set(self.0);
    }
}

#[derive(Clone, Copy)]
struct Budget {
    slice: Duration,
    /// The outer budget's limit until the slice begins; then its own.
    limit: Limit,
    started_at: Option<Instant>,
    /// When the clock was last read. `None` before the slice begins.
    read_at: Option<Instant>,
    /// The number of items from the last reading to the next.
    items: u32,
    items_left: u32,
}

#[derive(Clone, Copy)]
enum Limit {
    None,
    At(Instant),
}

impl Budget {
    fn start(&mut self, now: Instant) {
        self.limit = match (now.checked_add(self.slice), self.limit) {
            (None, limit) => limit,
            (Some(own), Limit::None) => Limit::At(own),
            (Some(own), Limit::At(outer)) => Limit::At(own.min(outer)),
        };
        self.started_at = Some(now);
        self.read_at = Some(now);
    }

    /// Counts a checkpoint. Returns `true` if the slice is over.
    fn pass(&mut self) -> bool {
        self.items_left -= 1;
        if self.items_left > 0 {
            return false;
        }
        let now = primitives::time::now();
        let last = self.read_at.replace(now);
        if last.is_none() {
            self.start(now);
        }
        let rest = match self.limit {
            Limit::None => Duration::MAX,
            Limit::At(end) => end.saturating_duration_since(now),
        };
        let took = last.map_or(rest, |last| now - last);
        let room = f64::from(self.items) * rest.div_duration_f64(took) / 8.0;
        self.items = (room as u32).clamp(1, MOST.min(4 * self.items));
        self.items_left = self.items;
        rest.is_zero()
    }
}

#[cfg(test)]
#[path = "../../../exercises/08-budget/src/tests/mod.rs"]
mod tests;
