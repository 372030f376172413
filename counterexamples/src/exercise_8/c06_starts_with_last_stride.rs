//! Breaks clause 6: Wary.
//! Caught by: expensive_items_are_noticed_in_short_polls_too
//! Also fails: an_outer_slice_begins_at_the_first_nested_checkpoint
//! Also fails: a_nested_poll_without_a_checkpoint_reads_no_clock
//! Also fails: items_may_become_expensive_anywhere_in_a_poll
//! Also fails: each_short_history_of_nested_polls_goes_as_the_contract_says
//! Also fails: loops_of_one_task_share_its_slice
//! Also fails: a_nested_budget_ends_with_the_outer_one
//! Tells: items_may_become_expensive_anywhere_in_a_poll
//!
//! The task remembers its stride from poll to poll, and corrects it at once
//! when it took too long. However, a stride is measured only when it ends. If
//! the next polls have fewer checkpoints than the stride is long, it never
//! ends, and the task never notices that the items have become expensive.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// The largest number of checkpoints between two readings of the clock.
const LONGEST_STRIDE: u32 = 256;

/// Runs `future` so that each of its polls has a time slice.
pub fn with_budget<F: Future>(slice: Duration, future: F) -> WithBudget<F> {
    WithBudget {
        slice,
        stride: 1,
        future,
    }
}

/// The future of [`with_budget`].
pub struct WithBudget<F> {
    slice: Duration,
    stride: u32,
    future: F,
}

// ANCHOR: poll
impl<F: Future> Future for WithBudget<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // ANCHOR: guilty
        let _running = Running::start(self.slice, self.stride);
        // ANCHOR_END: guilty
        // SAFETY: nothing is moved out of the reference.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: the future is pinned with `self` and never moved out of it.
        let poll = unsafe { Pin::new_unchecked(&mut this.future) }.poll(cx);
        if let Some(budget) = BUDGET.get() {
            // ANCHOR: guilty_2
            this.stride = budget.stride;
            // ANCHOR_END: guilty_2
        }
        poll
    }
}
// ANCHOR_END: poll

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
    /// When the outer budget ends.
    outer_end: Option<Instant>,
    /// `None` until the first checkpoint.
    clock: Option<Clock>,
    stride: u32,
    /// Checkpoints up to the next reading.
    stride_left: u32,
}

#[derive(Clone, Copy)]
struct Clock {
    /// `None` if the slice never ends.
    end: Option<Instant>,
    read_at: Instant,
}

/// Restores the outer budget when it's dropped.
struct Running {
    outer: Option<Budget>,
}

impl Running {
    fn start(slice: Duration, stride: u32) -> Self {
        let mut outer = BUDGET.get();
        let mut budget = Budget::new(slice);
        budget.stride = stride;
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

    /// Begins the slice, if it hasn't begun.
    fn started(&mut self) -> Clock {
        *self.clock.get_or_insert_with(|| {
            let now = primitives::time::now();
            let ends = [now.checked_add(self.slice), self.outer_end];
            Clock {
                end: ends.into_iter().flatten().min(),
                read_at: now,
            }
        })
    }

    // ANCHOR: pass
    /// Counts a checkpoint. Returns `true` if the slice is over.
    fn pass(&mut self) -> bool {
        self.stride_left -= 1;
        if self.stride_left > 0 {
            return false;
        }
        let Some(clock) = self.clock else {
            // ANCHOR: guilty_3
            self.stride_left = self.stride;
            // ANCHOR_END: guilty_3
            let Clock { end, read_at } = self.started();
            return end.is_some_and(|end| read_at >= end);
        };
        let now = primitives::time::now();
        self.choose_stride(now - clock.read_at);
        self.clock = Some(Clock {
            read_at: now,
            ..clock
        });
        let is_over = clock.end.is_some_and(|end| now >= end);
        self.stride_left = if is_over { 1 } else { self.stride };
        is_over
    }

    /// Chooses the next stride by what the last one took.
    fn choose_stride(&mut self, took: Duration) {
        let room = (self.slice / 16).div_duration_f64(took);
        let items = (f64::from(self.stride) * room) as u32;
        self.stride = items.clamp(1, LONGEST_STRIDE.min(2 * self.stride));
    }
    // ANCHOR_END: pass
}

#[cfg(test)]
#[path = "../../../exercises/08-budget/src/tests/mod.rs"]
mod tests;
