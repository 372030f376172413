//! The checks of exercise 1, one or more for each clause of the contract.

mod future;
mod idle;
mod polls;
mod wakers;
mod wakes;

use std::cell::Cell;
use std::future::poll_fn;
use std::marker::PhantomPinned;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use testkit::{
    Cost, DropProbe, LateSide, Lesson, ManualFuture, MustNotMove, ThreadProbe,
    WokenByTurns, WrittenMeanwhile, Yields, check, idle_cost,
    race_step_by_step, race_with_late_stores, race_with_wakes,
};

use super::block_on;

/// How long the idle checks watch the thread.
const IDLE_WINDOW: Duration = Duration::from_millis(200);
/// The CPU time that a sleeping thread may use in that window: a hundred times
/// what it does use.
const IDLE_CPU: Duration = Duration::from_millis(10);
