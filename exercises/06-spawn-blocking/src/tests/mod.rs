//! The checks of exercise 6, one or more for each clause of the contract.
#![allow(
    clippy::drop_non_drop,
    reason = "the types of the stub own nothing yet"
)]

mod bridge;
mod ends;
mod histories;
mod jobs;
mod threads;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::panic::panic_any;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use parker::block_on;
use primitives::chaos::{at_moment, hold_after_timeout, with_chaos};
use testkit::{
    CountingWaker, DropLog, DropProbe, Gate, HostileClone, HostileWaker,
    Lesson, Opener, PanicOnDrop, Partner, StackWakers, ThreadProbe, WakeCounts,
    check, durations_that_wrap, idle_cost, log_of_this_threads_end,
    panic_message, wakers_without_data, without_new_threads,
};

use super::{JoinError, JoinHandle, Pool, spawn_rayon};

/// The seed of the chaos runs.
const SEED: u64 = 6;
/// Longer than any check may last.
const HOUR: Duration = Duration::from_secs(3_600);
/// Long enough for threads to do what they mustn't.
const MOMENT: Duration = Duration::from_millis(30);
/// How long a check repeats what it can only show by luck. On a busy machine it
/// does fewer rounds.
const LUCK: Duration = Duration::from_secs(2);
/// How often a check polls, at intervals of a millisecond, for what must come.
/// It counts polls instead of time because a check without CPU time doesn't
/// poll either.
const LOOKS: u32 = 2_000;

/// A job that waits until the gate is open.
fn waiting_job(opener: &Opener) -> impl FnOnce() + Send + 'static {
    let gate = opener.gate();
    move || gate.wait()
}

/// Keeps one thread of the pool busy until the gate opens. Returns once it is.
fn hold(pool: &Pool, opener: &Opener) -> JoinHandle<()> {
    let begun = Arc::new(Gate::new());
    let (sender, wait) = (begun.clone(), waiting_job(opener));
    let held = pool.spawn_blocking(move || {
        sender.open();
        wait();
    });
    begun.wait();
    held
}

/// What a job owns uses the pool so when it's dropped.
#[derive(Clone, Copy, Debug)]
enum PoolUse {
    Submit,
    ShutDown,
}

/// Uses the pool when it's dropped, and then sends the handle of the job that it
/// has submitted, if any.
struct UsesThePool {
    pool: Arc<Pool>,
    how: PoolUse,
    sender: mpsc::Sender<Option<JoinHandle<u32>>>,
}

impl UsesThePool {
    fn new(
        pool: &Arc<Pool>,
        how: PoolUse,
    ) -> (Self, mpsc::Receiver<Option<JoinHandle<u32>>>) {
        let (sender, receiver) = mpsc::channel();
        let pool = pool.clone();
        (Self { pool, how, sender }, receiver)
    }
}

impl Drop for UsesThePool {
    fn drop(&mut self) {
        let submitted = match self.how {
            PoolUse::Submit => Some(self.pool.spawn_blocking(|| 7)),
            PoolUse::ShutDown => {
                self.pool.shut_down();
                None
            }
        };
        let _ = self.sender.send(submitted);
    }
}

/// Polls once. Returns `true` if the handle is ready.
fn poll_once<T>(job: &mut JoinHandle<T>, waker: &Waker) -> bool {
    let mut cx = Context::from_waker(waker);
    Pin::new(job).poll(&mut cx).is_ready()
}

/// Runs `count` jobs that all wait for each other.
fn run_together<T: Send + 'static>(
    pool: &Pool,
    count: usize,
    last: fn() -> T,
) -> Vec<T> {
    results(submit_together(pool, count, last))
}

/// Submits `count` jobs that all wait for each other.
fn submit_together<T: Send + 'static>(
    pool: &Pool,
    count: usize,
    last: fn() -> T,
) -> Vec<JoinHandle<T>> {
    let meeting = Arc::new(Barrier::new(count));
    let jobs = (0..count).map(|_| {
        let meeting = meeting.clone();
        pool.spawn_blocking(move || {
            meeting.wait();
            last()
        })
    });
    jobs.collect()
}

fn results<T>(jobs: Vec<JoinHandle<T>>) -> Vec<T> {
    let result = |job: JoinHandle<T>| block_on(job).expect("the job returns");
    jobs.into_iter().map(result).collect()
}

#[track_caller]
fn assert_is_boom(job: JoinHandle<u32>) {
    let error = block_on(job).expect_err("a job that panicked has no result");
    assert_says_boom(error);
}

#[track_caller]
fn assert_says_boom(error: JoinError) {
    let is = (error.is_panic(), error.is_cancelled());
    assert!(is == (true, false), "(is_panic, is_cancelled) is {is:?}");
    assert!(!error.to_string().is_empty(), "the error says nothing");
    let payload = error.into_panic();
    let text = payload.downcast_ref::<&str>();
    assert!(
        text == Some(&"boom"),
        "the payload is a different one: {text:?}"
    );
}
