//! Solution 8: a slice of time for each poll, and a stride between two
//! readings of the clock that grows and shrinks with what the items cost.
//!
//! All but one in many checkpoints only count down. The one that ends the
//! stride reads the clock, and chooses the next stride by what this one took:
//! as many items as fit into a small part of the slice, at most twice as many
//! as before, and never more than `LONGEST_STRIDE`. Each poll begins with a
//! stride of one. So nothing is learned that another task, or the same one
//! after a wait, could be misled by, and a poll whose items are dear notices
//! at the second one.
//!
//! The budget of the running poll is the thread's, in a thread-local, for as
//! long as the poll lasts. A poll that reaches no checkpoint only puts it
//! there and takes it away.

#[cfg(test)]
#[path = "../../../exercises/08-budget/src/tests/mod.rs"]
mod tests;

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use yield_now::{YieldNow, yield_now};

/// The clock is read at least about so many times in a slice: a poll is late
/// by less than this part of it, and one item.
const READINGS: u32 = 16;

/// How many checkpoints pass between two readings at most, however cheap the
/// items are. The next ones may be dear.
const LONGEST_STRIDE: u32 = 256;

/// Runs `future` so that each of its polls has a time slice: a [`checkpoint`]
/// that finds the slice over lets the task yield.
///
/// # Contract
///
/// An *item* is what the future does between two checkpoints.
///
/// 1. **Ready while it lasts.** A slice begins at the first checkpoint of a
///    poll; whether one that yielded in the poll before counts is left open.
///    Until the slice is over a checkpoint is ready at once, and wakes nobody.
///    Outside of any budget a checkpoint always is.
/// 2. **Bounded polls.** While items cost the same, a poll lasts at most one
///    and a half slices and two items. If a task runs several loops at once,
///    they share the slice, and it lasts one item longer for each.
/// 3. **Pending once.** A checkpoint that finds the slice over wakes the waker
///    that it is polled with, and is pending. Its next poll is ready, whatever
///    the time. So a task gets on even with a slice of zero.
/// 4. **A slice for each poll.** Each poll has a whole slice, on whichever
///    thread. The time before it and between two polls does not count.
/// 5. **Cheap.** Where an item costs about as much as a reading of the clock,
///    or more, and a slice 2,000 readings or more, the readings take at most a
///    twentieth of the time of polls that use up their slices. A poll without a
///    checkpoint reads no clock.
/// 6. **Wary.** Items may become dearer at any time: between two readings of
///    the clock are at most 1,024 checkpoints, and the poll after the one in
///    which they became dearer is bounded again.
/// 7. **No trace.** When a poll ends, also by a panic, its thread has no
///    budget, as before. What one task's items cost says nothing of another's.
/// 8. **Nested.** A checkpoint within two budgets is one of both. The slice of
///    the inner one ends when that of the outer one does, or before. Then the
///    outer one's goes on.
/// 9. **No allocation.** Neither a poll nor a checkpoint allocates.
/// 10. **In good hands.** The future does not move once it has been polled,
///     and is dropped once. Its output and its panic are passed on.
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
/// Gives the budget of the running poll a chance to let the task yield. Await
/// it after each item of a long computation.
#[inline]
pub fn checkpoint() -> Checkpoint {
    Checkpoint { yielding: None }
}
// ANCHOR_END: checkpoint

/// The future of [`checkpoint`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct Checkpoint {
    /// Once it has found the slice over.
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

/// What a thread knows of the poll that it is in.
struct Thread {
    /// How many checkpoints come before the next reading, that one included.
    stride_left: Cell<u32>,
    /// `None` outside of any budget.
    budget: Cell<Option<Budget>>,
}

/// The budget of one poll.
#[derive(Clone, Copy)]
struct Budget {
    slice: Duration,
    /// When the slice of the budget around this one ends. `None` also where
    /// that is never.
    outer_end: Option<Instant>,
    /// `None` until the poll's first checkpoint.
    pace: Option<Pace>,
}

#[derive(Clone, Copy)]
struct Pace {
    /// When the slice ends. `None` if never.
    end: Option<Instant>,
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
        // Once it is over, each further checkpoint of the poll finds it so.
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

    /// Makes a budget within this one, whose slice begins now at the latest.
    fn nested(&mut self, slice: Duration) -> Self {
        let pace = match self.pace {
            Some(pace) => pace,
            None => self.pace_from(primitives::time::now()),
        };
        self.pace = Some(pace);
        Self {
            slice: slice.min(self.slice),
            outer_end: pace.end,
            pace: None,
        }
    }

    fn pace_from(&self, now: Instant) -> Pace {
        let own_end = now.checked_add(self.slice);
        let ends = own_end.into_iter().chain(self.outer_end);
        Pace {
            end: ends.min(),
            read_at: now,
            stride: 1,
        }
    }
}

impl Pace {
    // ANCHOR: stride
    /// Chooses the next stride: what a part of the slice has room for, if the
    /// items go on to cost what they have cost.
    fn after_stride(mut self, slice: Duration, now: Instant) -> Self {
        let took = now.duration_since(self.read_at);
        let room = (slice / READINGS).div_duration_f64(took);
        // Nothing took no time: then there is room for as many as we like.
        let items = (f64::from(self.stride) * room) as u32;
        self.stride = items.clamp(1, LONGEST_STRIDE.min(2 * self.stride));
        self.read_at = now;
        self
    }
    // ANCHOR_END: stride
}

/// Gives the thread a budget until it is dropped, also when a panic passes.
struct Running {
    outer_stride_left: u32,
    outer: Option<Budget>,
}

impl Running {
    #[inline]
    fn start(slice: Duration) -> Self {
        THREAD.with(|thread| {
            let mut outer = thread.budget.get();
            let budget = match &mut outer {
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
            thread.budget.set(self.outer);
        });
    }
}
