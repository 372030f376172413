//! Breaks clause 2: Bounded polls.
//! Caught by: a_poll_ends_soon_after_its_slice
//! Also fails: a_nested_budget_ends_with_the_outer_one
//! Also fails: a_nested_slice_may_be_over_before_the_outer_one
//! Also fails: dear_items_are_noticed_in_short_polls_too
//! Also fails: each_task_has_a_budget_of_its_own
//! Also fails: loops_of_one_task_share_its_slice
//!
//! Reads the clock at every 64th checkpoint. For items of 20 ns that is fine.
//! For items of 30 µs it means that a slice of 100 µs takes two milliseconds.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// How many checkpoints pass between two readings of the clock.
const STRIDE: u32 = 64;

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
        let _running = Running::start(self.slice);
        // SAFETY: the future is pinned with `self` and never moved out of it.
        unsafe { self.map_unchecked_mut(|this| &mut this.future) }.poll(cx)
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
        if self.has_yielded || !is_slice_over() {
            return Poll::Ready(());
        }
        self.has_yielded = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

thread_local! {
    static BUDGET: Cell<Option<Budget>> = const { Cell::new(None) };
}

/// The budget of the poll that runs on this thread.
#[derive(Clone, Copy)]
struct Budget {
    slice: Duration,
    /// When the budget around this one ends.
    outer_end: Option<Instant>,
    /// `None` until the first checkpoint.
    clock: Option<Clock>,
    stride: u32,
    /// Checkpoints to the next reading.
    stride_left: u32,
}

#[derive(Clone, Copy)]
struct Clock {
    /// `None` if the slice never ends.
    end: Option<Instant>,
    read_at: Instant,
}

/// Puts the budget around this one back when it is dropped.
struct Running {
    outer: Option<Budget>,
}

impl Running {
    fn start(slice: Duration) -> Self {
        let mut outer = BUDGET.get();
        let mut budget = Budget::new(slice);
        if let Some(outer) = &mut outer {
            budget.slice = slice.min(outer.slice);
            budget.outer_end = outer.started().end;
        }
        BUDGET.set(Some(budget));
        Self { outer }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        BUDGET.set(self.outer);
    }
}

fn is_slice_over() -> bool {
    let Some(mut budget) = BUDGET.get() else {
        return false;
    };
    let is_over = budget.pass();
    BUDGET.set(Some(budget));
    is_over
}

impl Budget {
    fn new(slice: Duration) -> Self {
        Self {
            slice,
            outer_end: None,
            clock: None,
            stride: 1,
            stride_left: 1,
        }
    }

    /// Begins the slice, if it has not begun.
    fn started(&mut self) -> Clock {
        *self.clock.get_or_insert_with(|| {
            let now = sync::time::now();
            let ends = [now.checked_add(self.slice), self.outer_end];
            Clock {
                end: ends.into_iter().flatten().min(),
                read_at: now,
            }
        })
    }

    /// Counts a checkpoint. Returns `true` if the slice is over.
    fn pass(&mut self) -> bool {
        self.stride_left -= 1;
        if self.stride_left > 0 {
            return false;
        }
        let Some(clock) = self.clock else {
            self.stride_left = 1;
            let Clock { end, read_at } = self.started();
            return end.is_some_and(|end| read_at >= end);
        };
        let now = sync::time::now();
        self.stride = STRIDE;
        self.clock = Some(Clock {
            read_at: now,
            ..clock
        });
        let is_over = clock.end.is_some_and(|end| now >= end);
        self.stride_left = if is_over { 1 } else { self.stride };
        is_over
    }
}

#[cfg(test)]
#[path = "../../../exercises/08-budget/src/tests/mod.rs"]
mod tests;
