//! The checks of exercise 2, one or more for each clause of the contract. On
//! most machines no run shows that clause 4 is broken, so it has only models.
#![allow(clippy::drop_non_drop, reason = "the stub's types own nothing yet")]

mod block_on;
mod handles;
mod histories;
mod timeouts;
mod tokens;

use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake};
use std::thread;
use std::time::{Duration, Instant};

use primitives::chaos::{at_moment, with_chaos, with_late_returns};
use testkit::{
    Cost, Lesson, ManualFuture, Rendezvous, ThreadProbe, WokenByTurns, Yields,
    check, durations_that_wrap, idle_cost, live_blocks, race_step_by_step,
    race_with_wakes, start_elsewhere, wait_by_thread_park,
};

use super::{Parker, Unparker, block_on};

/// The seed for what happens under chaos.
const SEED: u64 = 2;
/// Long enough to show whether a thread sleeps.
const MOMENT: Duration = Duration::from_millis(20);
/// Longer than any check may take.
const HOUR: Duration = Duration::from_secs(3_600);

/// How long the idle checks watch the thread, and what a sleeping thread may
/// cost in that time: fifty times what it does cost.
const IDLE_WINDOW: Duration = Duration::from_millis(200);
const IDLE_CPU: Duration = Duration::from_millis(5);
const IDLE_SLEEPS: u64 = 20;

/// Starts a thread that unparks once the calling thread sleeps.
fn unpark_once_asleep(unparker: Unparker) -> thread::JoinHandle<()> {
    let parked = ThreadProbe::here();
    thread::spawn(move || {
        parked.wait_until_asleep();
        unparker.unpark();
    })
}
