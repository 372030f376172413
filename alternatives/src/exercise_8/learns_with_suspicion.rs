//! Another correct design: a task remembers from poll to poll what an item
//! costs, and reads the clock twice at the start of a poll to check whether
//! items still cost the same. Only then does it take long strides at once.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

const LONGEST_STRIDE: u32 = 400;

/// Runs `future` so that each of its polls has a time slice.
pub fn with_budget<F: Future>(slice: Duration, future: F) -> WithBudget<F> {
    WithBudget {
        slice,
        usual_cost: Duration::ZERO,
        future,
    }
}

/// The future of [`with_budget`].
pub struct WithBudget<F> {
    slice: Duration,
    /// The cost of an item, as learned. Zero if nothing is known.
    usual_cost: Duration,
    future: F,
}

impl<F: Future> Future for WithBudget<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let outer = RUNNING.get();
        let _restored = Restored(outer);
        RUNNING.set(Some(Budget {
            slice: outer.map_or(self.slice, |it| self.slice.min(it.slice)),
            outer_end: outer.and_then(|outer| match outer.progress {
                Some(progress) => progress.end,
                None => outer.outer_end,
            }),
            usual_cost: self.usual_cost,
            progress: None,
            stride_left: 1,
        }));
        // SAFETY: nothing is moved out of the reference.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: the future is pinned with `self` and never moved out of it.
        let poll = unsafe { Pin::new_unchecked(&mut this.future) }.poll(cx);
        if let Some(budget) = RUNNING.get() {
            this.usual_cost = budget.usual_cost;
        }
        poll
    }
}

/// Lets the task yield if the slice is over.
pub fn checkpoint() -> Checkpoint {
    Checkpoint { is_new: true }
}

/// The future of [`checkpoint`].
pub struct Checkpoint {
    is_new: bool,
}

impl Future for Checkpoint {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let is_new = std::mem::take(&mut self.is_new);
        if is_new && let Some(mut budget) = RUNNING.get() {
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

/// Restores what the thread had before.
struct Restored(Option<Budget>);

impl Drop for Restored {
    fn drop(&mut self) {
        let inner = RUNNING.replace(self.0);
        if let (Some(outer), Some(inner)) = (self.0, inner) {
            RUNNING.set(Some(outer.after(inner)));
        }
    }
}

#[derive(Clone, Copy)]
struct Budget {
    slice: Duration,
    outer_end: Option<Instant>,
    usual_cost: Duration,
    progress: Option<Progress>,
    stride_left: u32,
}

#[derive(Clone, Copy)]
struct Progress {
    end: Option<Instant>,
    began_at: Instant,
    read_at: Instant,
    stride: u32,
}

impl Budget {
    fn begin(&self, now: Instant) -> Progress {
        let own_end = now.checked_add(self.slice);
        Progress {
            end: own_end.into_iter().chain(self.outer_end).min(),
            began_at: now,
            read_at: now,
            stride: 1,
        }
    }

    /// Begins the slice when that of a budget within it began, if it hasn't
    /// begun before.
    fn after(mut self, inner: Self) -> Self {
        let began = inner.progress.map(|it| self.begin(it.began_at));
        self.progress = self.progress.or(began);
        self
    }

    /// Counts a checkpoint. Returns `true` if the slice is over.
    fn pass(&mut self) -> bool {
        self.stride_left -= 1;
        if self.stride_left > 0 {
            return false;
        }
        let now = primitives::time::now();
        let progress = match self.progress {
            None => self.begin(now),
            Some(last) => self.after_stride(last, now),
        };
        self.progress = Some(progress);
        let is_over = progress.end.is_some_and(|end| now >= end);
        self.stride_left = if is_over { 1 } else { progress.stride };
        is_over
    }

    fn after_stride(&mut self, last: Progress, now: Instant) -> Progress {
        let cost = (now - last.read_at) / last.stride;
        let is_as_usual = cost <= 2 * self.usual_cost;
        self.usual_cost = cost;
        let room = (self.slice / 12).div_duration_f64(cost) as u32;
        let most = if is_as_usual {
            LONGEST_STRIDE
        } else {
            4 * last.stride
        };
        let stride = room.clamp(1, most.min(LONGEST_STRIDE));
        Progress {
            read_at: now,
            stride,
            ..last
        }
    }
}

#[cfg(test)]
#[path = "../../../exercises/08-budget/src/tests/mod.rs"]
mod tests;
