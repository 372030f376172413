//! The checks of exercise 6, one or more for each clause of the contract.
#![allow(
    clippy::drop_non_drop,
    reason = "the types of the stub own nothing yet"
)]

mod bridge;
mod ends;
mod jobs;
mod threads;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::panic::panic_any;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::{Context, Wake, Waker};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use parker::block_on;
use primitives::chaos::with_chaos;
use testkit::{
    DropLog, DropProbe, Gate, HostileClone, HostileWaker, Lesson, Opener,
    PanicOnDrop, StackWakers, ThreadProbe, check, durations_that_wrap,
    idle_cost, log_of_this_threads_end, panic_message, wakers_without_data,
    without_new_threads,
};

use super::{JoinHandle, Pool, spawn_rayon};

/// Decides what happens under chaos.
const SEED: u64 = 6;
/// Longer than any check may last.
const HOUR: Duration = Duration::from_secs(3_600);
/// Long enough for threads to do what they must not.
const MOMENT: Duration = Duration::from_millis(30);
/// For so long a check repeats what only luck can show. On a machine that is
/// busy with other things it is content with fewer rounds.
const LUCK: Duration = Duration::from_secs(2);
/// How often a check looks, a millisecond apart, for what must come. Looks
/// are counted and not time: a check that gets no CPU looks no more either.
const LOOKS: u32 = 2_000;

/// A job that waits until the gate is open.
fn waiting_job(opener: &Opener) -> impl FnOnce() + Send + 'static {
    let gate = opener.gate();
    move || gate.wait()
}

/// Keeps one thread of the pool busy until the gate opens. Returns once it is.
fn hold(pool: &Pool, opener: &Opener) -> JoinHandle<()> {
    let begun = Arc::new(Gate::new());
    let (tell, wait) = (begun.clone(), waiting_job(opener));
    let held = pool.spawn_blocking(move || {
        tell.open();
        wait();
    });
    begun.wait();
    held
}

/// Polls once. Returns `true` if the handle is ready.
fn poll_once<T>(job: &mut JoinHandle<T>, waker: &Waker) -> bool {
    let mut cx = Context::from_waker(waker);
    Pin::new(job).poll(&mut cx).is_ready()
}

/// Runs so many jobs that all wait for each other.
fn run_together<T: Send + 'static>(
    pool: &Pool,
    count: usize,
    last: fn() -> T,
) -> Vec<T> {
    let meeting = Arc::new(Barrier::new(count));
    let jobs = (0..count).map(|_| {
        let meeting = meeting.clone();
        pool.spawn_blocking(move || {
            meeting.wait();
            last()
        })
    });
    results(jobs.collect())
}

fn results<T>(jobs: Vec<JoinHandle<T>>) -> Vec<T> {
    let result = |job: JoinHandle<T>| block_on(job).expect("the job returns");
    jobs.into_iter().map(result).collect()
}

#[track_caller]
fn assert_is_boom(job: JoinHandle<u32>) {
    let error = block_on(job).expect_err("a job that panicked has no result");
    let is = (error.is_panic(), error.is_cancelled());
    assert!(is == (true, false), "(is_panic, is_cancelled) is {is:?}");
    assert!(!error.to_string().is_empty(), "the error says nothing");
    let payload = error.into_panic();
    let text = payload.downcast_ref::<&str>();
    assert!(text == Some(&"boom"), "the panic is another: {text:?}");
}
