//! The checks of exercise 9, one or more for each clause of the contract.
#![allow(
    clippy::drop_non_drop,
    reason = "the types of the stub own nothing yet"
)]

mod ends;
mod histories;
mod results;
mod runs;
mod turns;
mod within;

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn};
use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use primitives::chaos::with_chaos;
use testkit::{
    ActingWaker, CountingWaker, DropLog, DropProbe, EndMayBeUnwritten,
    HostileWaker, Lesson, ManualFuture, ManualHandle, MustNotMove, PanicOnDrop,
    StackWakers, ThreadProbe, WakerUse, Yields, allocations, check, idle_cost,
    live_blocks, panic_message, race_with_wakes, wakers_without_data,
    with_reused_addresses,
};

use super::{Completer, JoinError, JoinHandle, job, outcome, spawn};

/// The seed of the chaos runs.
const SEED: u64 = 9;
/// How often a task may be polled while another is ready, by clause 5.
const BOUND: u32 = 256;
/// After this many ticks, every task that was ready has been polled.
const MANY: u32 = 2 * BOUND;

/// An executor for checks that aren't about its end, which is a milestone of
/// its own.
struct LocalExecutor(EndMayBeUnwritten<super::LocalExecutor>);

impl LocalExecutor {
    fn new() -> Self {
        Self(EndMayBeUnwritten::new(super::LocalExecutor::new()))
    }
}

impl Deref for LocalExecutor {
    type Target = super::LocalExecutor;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// Runs `action` on another thread, and waits for it.
fn elsewhere<R: Send>(action: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| {
        let other = scope.spawn(action);
        other.join().expect("the action doesn't panic")
    })
}

/// Yields until `is_so` returns `true`, for as long as the contract allows, and
/// longer.
#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) -> impl Future<Output = ()> {
    let here = std::panic::Location::caller();
    async move {
        for _ in 0..10 * MANY {
            if is_so() {
                return;
            }
            Yields(1).await;
        }
        panic!("after many ticks, {what} ({}:{})", here.file(), here.line());
    }
}

/// Spawns a task that waits for its handle, and lets it be polled once.
fn spawn_waiting(executor: &LocalExecutor) -> ManualHandle {
    let (future, task) = ManualFuture::new();
    drop(executor.spawn(future));
    executor.block_on(until("a task still hasn't been polled", || {
        task.polls() > 0
    }));
    task
}

fn waker_of(task: &ManualHandle) -> Waker {
    task.wait_until_polled().0
}

/// A value whose destructor calls a function.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// The thread that wakes a task.
#[derive(Clone, Copy, Debug)]
enum Side {
    Here,
    Elsewhere,
}

impl Side {
    fn wake(self, waker: &Waker) {
        match self {
            Self::Here => waker.wake_by_ref(),
            Self::Elsewhere => elsewhere(|| waker.wake_by_ref()),
        }
    }
}

fn poll<T>(
    handle: &mut JoinHandle<T>,
    waker: &Waker,
) -> Poll<Result<T, JoinError>> {
    Pin::new(handle).poll(&mut Context::from_waker(waker))
}
