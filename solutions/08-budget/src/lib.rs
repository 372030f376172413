//! Solution 8: a slice of time for each poll, and a stride between two
//! readings of the clock that grows and shrinks with what the items cost.
//!
//! Most checkpoints only count down. The checkpoint that ends the stride reads
//! the clock, and chooses the next stride by what this stride took: as many
//! items as fit into a small part of the slice, at most twice as many as
//! before, and never more than `LONGEST_STRIDE`. Each poll begins with a stride
//! of one. The budget therefore learns nothing that could mislead another task,
//! or the same task after a wait, and a poll whose items are expensive notices
//! it at the second item.
//!
//! While a poll runs, its budget is in a thread-local. A poll that reaches no
//! checkpoint only puts the budget there and removes it, even within another
//! budget, because the slices of both begin at the first checkpoint.

#[cfg(test)]
#[path = "../../../exercises/08-budget/src/tests/mod.rs"]
mod tests;

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use yield_now::{YieldNow, yield_now};

/// About how often the clock is read in a slice, at least: a poll is late by
/// less than this fraction of the slice, and one item.
const READINGS: u32 = 16;

/// The largest number of checkpoints between two readings, no matter how cheap
/// the items are. The next ones may be expensive.
const LONGEST_STRIDE: u32 = 256;

/// Runs `future` so that each of its polls has a time slice: a [`checkpoint`]
/// that finds the slice over makes the task yield.
///
/// # Contract
///
/// An *item* is what the future does between two checkpoints.
///
/// 1. **Ready while it lasts.** A slice begins at the first checkpoint of a
///    poll. (If a poll continues at a checkpoint that yielded in the previous
///    poll, the slice may begin there or at the next one.) Until the slice is
///    over, a checkpoint is ready at once, and calls no waker. Outside any
///    budget, this is true of every checkpoint.
/// 2. **Bounded polls.** While items cost the same, a poll lasts at most one
///    and a half slices and two items. If a task runs several loops at once,
///    they share the slice, and the poll may last one item longer for each
///    additional loop.
/// 3. **Pending once.** A checkpoint that finds the slice over calls the waker
///    that it's polled with, and is pending. Its next poll is ready, no matter
///    what the clock says. A task therefore makes progress even with a slice of
///    zero. The waker may poll other tasks at once.
/// 4. **A slice for each poll.** Each poll has a whole slice, on any thread.
///    The time before the poll and between two polls doesn't count.
/// 5. **Cheap.** In polls that use up their slices, reading the clock takes at
///    most a twentieth of the time. This is required if an item costs at least
///    about as much as one reading, and a slice at least as much as 2,000
///    readings, and if no nested polls end earlier. A poll without a checkpoint
///    doesn't read the clock.
/// 6. **Wary.** Items may become more expensive at any time. There are at most
///    1,024 checkpoints between two readings of the clock (or as many for each
///    of several nested budgets), and the poll after the one in which the items
///    became more expensive is bounded again.
/// 7. **No trace.** When a poll ends, even with a panic, its thread has no
///    budget, as before. What one task's items cost says nothing about
///    another's.
/// 8. **Nested.** A checkpoint within two budgets belongs to both, so it may
///    begin both slices. The inner slice ends when the outer slice does, or
///    earlier. After the inner poll, the outer slice continues. (If its items
///    are more expensive than those of the inner slice, clause 6 applies.)
/// 9. **No allocation.** Neither a poll nor a checkpoint allocates.
/// 10. **In good hands.** The future doesn't move once it has been polled, and
///     is dropped once. Its output and its panic are passed on.
///
/// # Examples
///
/// ```
/// # use std::time::Duration;
/// # async fn example() {
/// let sum = solution_8::with_budget(Duration::from_micros(100), async {
///     let mut sum = 0_u64;
///     for number in 0..1_000_000 {
///         sum += number;
///         solution_8::checkpoint().await;
///     }
///     sum
/// });
/// assert_eq!(sum.await, 499_999_500_000);
/// # }
/// ```
// ANCHOR: with_budget
pub fn with_budget<F: Future>(slice: Duration, future: F) -> WithBudget<F> {
    WithBudget { slice, future }
}
// ANCHOR_END: with_budget

/// The future of [`with_budget`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct WithBudget<F> {
    slice: Duration,
    future: F,
}

impl<F: Future> Future for WithBudget<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let _running = Running::start(self.slice);
        // SAFETY: `future` is pinned with `self`: nothing moves it out of a
        // `WithBudget`, which has no `Drop` and is `Unpin` only if `F` is.
        let future = unsafe { self.map_unchecked_mut(|this| &mut this.future) };
        future.poll(cx)
    }
}

// ANCHOR: checkpoint
/// Lets the budget of the running poll decide whether the task yields. Await it
/// after each item of a long computation.
#[inline]
pub fn checkpoint() -> Checkpoint {
    Checkpoint { yielding: None }
}
// ANCHOR_END: checkpoint

/// The future of [`checkpoint`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct Checkpoint {
    /// `Some` once the checkpoint has found the slice over.
    yielding: Option<YieldNow>,
}

impl Future for Checkpoint {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let yielding = match &mut self.yielding {
            Some(yielding) => yielding,
            None if THREAD.with(Thread::is_slice_over) => {
                self.yielding.insert(yield_now())
            }
            None => return Poll::Ready(()),
        };
        Pin::new(yielding).poll(cx)
    }
}

thread_local! {
    static THREAD: Thread = const { Thread {
        stride_left: Cell::new(u32::MAX),
        budget: Cell::new(None),
    } };
}

/// What a thread knows about the poll that it's running.
struct Thread {
    /// The number of checkpoints up to and including the one that reads the
    /// clock.
    stride_left: Cell<u32>,
    /// `None` outside any budget.
    budget: Cell<Option<Budget>>,
}

/// The budget of one poll.
#[derive(Clone, Copy)]
struct Budget {
    /// The shortest one among this budget and the outer ones.
    slice: Duration,
    /// When the innermost outer slice that has begun ends. `None` if there is
    /// no such slice, or if it never ends.
    outer_end: Option<Instant>,
    /// `None` until the poll's first checkpoint.
    pace: Option<Pace>,
}

#[derive(Clone, Copy)]
struct Pace {
    /// When the slice ends. `None` if it never does.
    end: Option<Instant>,
    began_at: Instant,
    read_at: Instant,
    stride: u32,
}

impl Thread {
    // ANCHOR: countdown
    /// Counts a checkpoint. Returns `true` if the slice of the poll is over.
    #[inline]
    fn is_slice_over(&self) -> bool {
        let left = self.stride_left.get() - 1;
        self.stride_left.set(left);
        left == 0 && self.end_stride()
    }
    // ANCHOR_END: countdown

    /// Reads the clock. Returns `true` if the slice of the poll is over.
    #[cold]
    #[inline(never)]
    fn end_stride(&self) -> bool {
        let Some(mut budget) = self.budget.get() else {
            self.stride_left.set(u32::MAX);
            return false;
        };
        let now = primitives::time::now();
        let pace = match budget.pace {
            None => budget.pace_from(now),
            Some(pace) => pace.after_stride(budget.slice, now),
        };
        budget.pace = Some(pace);
        self.budget.set(Some(budget));
        let is_over = pace.end.is_some_and(|end| now >= end);
        // Once the slice is over, every further checkpoint of the poll finds it
        // over.
        self.stride_left.set(if is_over { 1 } else { pace.stride });
        is_over
    }
}

impl Budget {
    fn new(slice: Duration) -> Self {
        Self {
            slice,
            outer_end: None,
            pace: None,
        }
    }

    /// Creates a budget within this one, without reading the clock: the poll
    /// may reach no checkpoint.
    fn nested(&self, slice: Duration) -> Self {
        Self {
            slice: slice.min(self.slice),
            outer_end: self.pace.map_or(self.outer_end, |pace| pace.end),
            pace: None,
        }
    }

    /// Goes on after the poll of a nested budget. If this slice hadn't begun
    /// before, it began at that poll's first checkpoint.
    fn resume_after(&mut self, nested: Self) {
        if self.pace.is_none()
            && let Some(pace) = nested.pace
        {
            self.pace = Some(self.pace_from(pace.began_at));
        }
    }

    fn pace_from(&self, now: Instant) -> Pace {
        let own_end = now.checked_add(self.slice);
        let ends = own_end.into_iter().chain(self.outer_end);
        Pace {
            end: ends.min(),
            began_at: now,
            read_at: now,
            stride: 1,
        }
    }
}

impl Pace {
    // ANCHOR: stride
    /// Chooses the next stride: the number of items that fit into a fraction of
    /// the slice if they keep costing what they have cost.
    fn after_stride(mut self, slice: Duration, now: Instant) -> Self {
        let took = now.duration_since(self.read_at);
        let room = (slice / READINGS).div_duration_f64(took);
        // If the items took no time, the room is infinite, and so is `items`.
        let items = (f64::from(self.stride) * room) as u32;
        self.stride = items.clamp(1, LONGEST_STRIDE.min(2 * self.stride));
        self.read_at = now;
        self
    }
    // ANCHOR_END: stride
}

/// Gives the thread a budget until it's dropped, even by a panic.
struct Running {
    outer_stride_left: u32,
    outer: Option<Budget>,
}

impl Running {
    #[inline]
    fn start(slice: Duration) -> Self {
        THREAD.with(|thread| {
            let outer = thread.budget.get();
            let budget = match outer {
                None => Budget::new(slice),
                Some(outer) => outer.nested(slice),
            };
            thread.budget.set(Some(budget));
            Self {
                outer_stride_left: thread.stride_left.replace(1),
                outer,
            }
        })
    }
}

impl Drop for Running {
    #[inline]
    fn drop(&mut self) {
        THREAD.with(|thread| {
            thread.stride_left.set(self.outer_stride_left);
            let nested = thread.budget.replace(self.outer);
            if let (Some(outer), Some(nested)) = (&mut self.outer, nested) {
                outer.resume_after(nested);
                thread.budget.set(self.outer);
            }
        });
    }
}
