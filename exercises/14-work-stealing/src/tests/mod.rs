//! The checks of exercise 14, one or more for each clause of the contract.
#![allow(
    clippy::async_yields_async,
    reason = "a handle is a result as any other"
)]

mod busy;
mod ends;
mod fairness;
mod handles;
mod jobs;
mod outside;
mod places;
mod spawning;
mod together;

use std::cell::Cell;
use std::collections::HashSet;
use std::future::{pending, poll_fn};
use std::io;
use std::mem::forget;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use primitives::chaos::with_chaos;
use testkit::{
    DropProbe, EndMayBeUnwritten, Gate, Lesson, ManualFuture, Opener,
    PanicOnDrop, StackWakers, ThreadProbe, check, idle_cost, panic_message,
    race_with_wakes, thread_count, without_new_threads,
};

use super::{
    Handle, JoinHandle, Runtime, sleep, spawn, spawn_blocking, yield_now,
};

/// Decides what happens under chaos.
const SEED: u64 = 14;
/// How many workers the checks try.
const WORKERS: [usize; 4] = [1, 2, 4, 8];
/// More tasks than any queue of fixed length holds.
const MANY: usize = 4_000;

/// A runtime whose end the check is not about: that is a milestone of its own.
type Endless = EndMayBeUnwritten<Runtime>;

fn runtime(workers: usize) -> Endless {
    endless(Runtime::builder().worker_threads(workers).build())
}

fn endless(built: io::Result<Runtime>) -> Endless {
    Endless::new(built.expect("there are threads left"))
}

/// Keeps a worker in a poll until the gate opens. Returns once it is.
fn hold(handle: &Handle, opener: &Opener) {
    let (begun, gate) = (Arc::new(Gate::new()), opener.gate());
    let tell = begun.clone();
    drop(handle.spawn(async move {
        tell.open();
        gate.wait();
    }));
    begun.wait();
}

/// Counts how often a future is polled.
async fn counted<F: Future>(future: F, polls: Arc<AtomicUsize>) -> F::Output {
    let mut future = Box::pin(future);
    poll_fn(|cx| {
        polls.fetch_add(1, SeqCst);
        future.as_mut().poll(cx)
    })
    .await
}

/// So many tasks that wait for one another within their polls.
fn meet(handle: &Handle, count: usize) -> Vec<JoinHandle<ThreadId>> {
    let meeting = Arc::new(Barrier::new(count));
    let tasks = (0..count).map(|_| {
        let meeting = meeting.clone();
        handle.spawn(async move {
            meeting.wait();
            thread::current().id()
        })
    });
    tasks.collect()
}

/// Spawns a task that may take the slot for the next task of this worker, so
/// that all those before it are in queues.
fn be_next() {
    drop(spawn(async {}));
}

/// Awaits all of them.
async fn all<T>(tasks: Vec<JoinHandle<T>>) -> Vec<T> {
    let mut outputs = Vec::new();
    for task in tasks {
        outputs.push(task.await.expect("the task returns"));
    }
    outputs
}

/// Counts how many of its clones were dropped.
#[derive(Clone)]
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}
