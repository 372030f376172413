//! The checks of exercise 8, one or more for each clause of the contract.
//!
//! They use a fake clock, on which only items and readings of the clock take
//! time, so they see the same on every machine.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

mod clock;
mod histories;
mod loops;
mod nesting;
mod slices;
mod within;

use primitives::time::FakeClock;
use testkit::{
    CountingWaker, DropProbe, Lesson, MustNotMove, Yields, allocations, check,
};

use super::{WithBudget, checkpoint, with_budget};

/// The cost of a reading of the clock in these checks.
const READING: Duration = Duration::from_nanos(25);
/// A usual slice, long compared with a reading.
const SLICE: Duration = micros(100);
/// More polls than any check needs.
const TOO_MANY_POLLS: usize = 20_000;
/// The number of checkpoints that clause 6 allows between two readings.
const LONGEST_STRIDE: u32 = 1_024;

const fn micros(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

const fn nanos(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

/// Does this many items of this cost, with a checkpoint after each.
async fn work(clock: &FakeClock, items: u32, cost: Duration) {
    for _ in 0..items {
        clock.advance(cost);
        checkpoint().await;
    }
}

/// Polls a task until it is ready, with a pause after each poll, and returns
/// how long each poll took. The task is polled whether it was woken or not.
#[track_caller]
fn polls_of(
    clock: &FakeClock,
    pause: Duration,
    task: impl Future<Output = ()>,
) -> Vec<Duration> {
    let mut task = pin!(task);
    let mut polls = Vec::new();
    loop {
        let polled = poll_once(clock, task.as_mut());
        polls.push(polled.took);
        if polled.poll.is_ready() {
            return polls;
        }
        assert!(
            polls.len() < TOO_MANY_POLLS,
            "after {TOO_MANY_POLLS} polls the task still isn't ready: it makes no progress"
        );
        clock.advance(pause);
    }
}

/// Creates a budget under the fake clock, as everything in these checks runs
/// under it.
fn budget<F: Future>(
    clock: &FakeClock,
    slice: Duration,
    future: F,
) -> WithBudget<F> {
    clock.run(|| with_budget(slice, future))
}

/// The outcome of a poll.
#[derive(Debug)]
struct Polled<T> {
    poll: Poll<T>,
    took: Duration,
    /// How often the waker was called during the poll.
    wakes: usize,
}

/// Polls a task under the fake clock.
fn poll_once<F: Future + ?Sized>(
    clock: &FakeClock,
    task: Pin<&mut F>,
) -> Polled<F::Output> {
    let (waker, counts) = CountingWaker::new();
    let before = clock.elapsed();
    let poll = clock.run(|| task.poll(&mut Context::from_waker(&waker)));
    Polled {
        poll,
        took: clock.elapsed() - before,
        wakes: counts.wakes(),
    }
}

/// How long a poll may take, by clause 2.
fn longest_poll(slice: Duration, item: Duration, loops: u32) -> Duration {
    slice + slice / 2 + item * (loops + 1)
}

/// Fails if a poll other than the last was shorter than the slice.
#[track_caller]
fn assert_slices_were_used(polls: &[Duration], slice: Duration) {
    let (_last, others) = polls.split_last().expect("there was a poll");
    if let Some(at) = others.iter().position(|took| *took < slice) {
        let took = others[at];
        panic!(
            "poll {} of {} was over after {took:?}, and the slice is {slice:?}",
            at + 1,
            polls.len()
        );
    }
}

/// Fails if a poll was longer than `bound`.
#[track_caller]
fn assert_bounded(polls: &[Duration], bound: Duration) {
    if let Some(at) = polls.iter().position(|took| *took > bound) {
        let took = polls[at];
        panic!(
            "poll {} of {} took {took:?}, not at most {bound:?}",
            at + 1,
            polls.len()
        );
    }
}

/// Waits for all the futures within one task, and polls each of them at every
/// poll.
async fn join(futures: impl Iterator<Item = impl Future<Output = ()>>) {
    let mut left: Vec<_> = futures.map(Box::pin).collect();
    poll_fn(move |cx| {
        left.retain_mut(|future| future.as_mut().poll(cx).is_pending());
        if left.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}
