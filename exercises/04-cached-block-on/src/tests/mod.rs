//! The checks of exercise 4, one or more for each clause of the contract.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::mpsc;
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

mod costs;
mod histories;
mod polls;
mod wakes;

use primitives::chaos::{read_modify_writes, with_chaos};
use testkit::{
    Cost, DropProbe, Lesson, ManualFuture, MustNotMove, WokenByTurns,
    WrittenMeanwhile, Yields, allocations, check, idle_cost, live_blocks,
    locked_instructions, panic_message, race_step_by_step, race_with_wakes,
    wait_by_thread_park,
};

use super::block_on;

/// A waker of a call that has returned.
fn waker_of_this_thread() -> Waker {
    block_on(poll_fn(|cx| Poll::Ready(cx.waker().clone())))
}

#[track_caller]
fn join<T>(thread: thread::JoinHandle<T>) {
    drop(thread.join().expect("the other thread doesn't panic"));
}
