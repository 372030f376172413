//! Exercise 8: a budget of time for each poll, which finds by itself how
//! rarely it may read the clock.
//!
//! The chapter is `src/yielding/budget.md`. Check yourself with
//! `cargo test -p exercise-8`.
//!
//! Read the clock by [`primitives::time::now`], so that the checks can drive
//! it. The crate `yield_now` is exercise 7's solution.

#[cfg(test)]
mod tests;

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

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
        todo!("give the thread a budget, poll the future, take it away again")
    }
}

/// Gives the budget of the running poll a chance to let the task yield. Await
/// it after each item of a long computation.
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
        todo!("be ready if the slice lasts; otherwise wake, be pending once")
    }
}
