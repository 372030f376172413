//! Exercise 8: a budget of time for each poll, which finds out how rarely it
//! may read the clock.
//!
//! The chapter is `src/yielding/budget.md`. Check yourself with
//! `cargo test -p exercise-8`.
//!
//! Read the clock with [`primitives::time::now`], so that the checks can
//! control it. The crate `yield_now` is exercise 7's solution.

#[cfg(test)]
mod tests;

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

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
/// ```no_run
/// # use std::time::Duration;
/// # async fn example() {
/// let sum = exercise_8::with_budget(Duration::from_micros(100), async {
///     let mut sum = 0_u64;
///     for number in 0..1_000_000 {
///         sum += number;
///         exercise_8::checkpoint().await;
///     }
///     sum
/// });
/// assert_eq!(sum.await, 499_999_500_000);
/// # }
/// ```
pub fn with_budget<F: Future>(slice: Duration, future: F) -> WithBudget<F> {
    WithBudget { slice, future }
}

/// The future of [`with_budget`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct WithBudget<F> {
    slice: Duration,
    future: F,
}

impl<F: Future> Future for WithBudget<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let _ = (self.slice, &self.future, cx);
        todo!("give the thread a budget, poll the future, remove the budget")
    }
}

/// Lets the budget of the running poll decide whether the task yields. Await it
/// after each item of a long computation.
pub fn checkpoint() -> Checkpoint {
    Checkpoint {}
}

/// The future of [`checkpoint`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct Checkpoint {}

impl Future for Checkpoint {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let _ = cx;
        todo!("ready until the slice is over; then wake, and be pending once")
    }
}
