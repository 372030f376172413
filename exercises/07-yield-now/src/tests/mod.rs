//! The checks of exercise 7, one or more for each clause of the contract.

use std::cell::Cell;
use std::future::poll_fn;
use std::num::NonZeroU32;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::thread;

mod counts;
mod histories;
mod turns;
mod yields;

use block_on::block_on;
use testkit::{
    CountingWaker, HostileWaker, Lesson, RoundRobin, allocations, check,
};

use super::{EveryNth, yield_now};

/// Shortens the order in which tasks were polled, if they were polled often.
fn shortened(order: &str) -> String {
    const SHOWN: usize = 12;
    match order.len() > SHOWN {
        true => format!("{}… ({} polls)", &order[..SHOWN], order.len()),
        false => order.to_owned(),
    }
}

/// Polls once and returns `true` if the future is ready.
fn is_ready<F>(future: &mut Pin<&mut F>, waker: &Waker) -> bool
where
    F: Future<Output = ()>,
{
    let mut cx = Context::from_waker(waker);
    future.as_mut().poll(&mut cx).is_ready()
}

/// Polls a future that is over, more often than 16 bits can count. It must not
/// be pending; it may panic.
#[track_caller]
fn assert_stays_over<F>(future: &mut Pin<&mut F>, waker: &Waker, what: &str)
where
    F: Future<Output = ()>,
{
    const POLLS: u32 = if cfg!(miri) { 300 } else { 70_000 };
    for number in 1..=POLLS {
        let poll = || is_ready(future, waker);
        match catch_unwind(AssertUnwindSafe(poll)) {
            Ok(is_over) => assert!(
                is_over,
                "{what} was ready, and then poll {number} was pending again"
            ),
            Err(_) => return,
        }
    }
}
