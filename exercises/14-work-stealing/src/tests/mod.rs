//! The checks of exercise 14, one or more for each clause of the contract.
#![allow(
    clippy::async_yields_async,
    reason = "a handle is an output like any other"
)]

mod busy;
mod ends;
mod fairness;
mod handles;
mod jobs;
mod last_calls;
mod leftovers;
mod load;
mod moments;
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
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use primitives::chaos::{plan_moment, with_chaos};
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

/// A runtime in a check that isn't about its end: that's a milestone of its own.
type Endless = EndMayBeUnwritten<Runtime>;

fn runtime(workers: usize) -> Endless {
    endless(Runtime::builder().worker_threads(workers).build())
}

/// With one worker, which takes from the global queue at least once in so many polls.
fn one_worker(interval: u32) -> Endless {
    endless(
        Runtime::builder()
            .worker_threads(1)
            .global_queue_interval(interval)
            .build(),
    )
}

fn endless(built: io::Result<Runtime>) -> Endless {
    Endless::new(built.expect("there are threads left"))
}

/// Keeps a worker in a poll until the gate opens. Returns once the poll has begun.
fn occupy_worker(handle: &Handle, opener: &Opener) {
    let (begun, gate) = (Arc::new(Gate::new()), opener.gate());
    let signal = begun.clone();
    drop(handle.spawn(async move {
        signal.open();
        gate.wait();
    }));
    begun.wait();
}

/// A job's handle: whether the job has ended or was cancelled.
type JobIsRight = Pin<Box<dyn Future<Output = bool> + Send>>;

/// A worker in a poll, in which it does what it's told. The poll ends as this is
/// dropped.
struct BusyWorker(mpsc::Sender<Box<dyn FnOnce() + Send>>);

impl BusyWorker {
    /// Spawns the task. Returns once its poll has begun.
    fn new(handle: &Handle) -> Self {
        Self::beginning_with(handle, || ()).0
    }

    /// The same, and returns what the worker's first order returns.
    fn beginning_with<R: Send + 'static>(
        handle: &Handle,
        body: impl FnOnce() -> R + Send + 'static,
    ) -> (Self, R) {
        let (orders, ordered) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
        drop(handle.spawn(async move {
            for order in ordered {
                order();
            }
        }));
        let worker = Self(orders);
        let result = worker.run(body);
        (worker, result)
    }

    /// Has the worker call `body` in its poll, and returns what that returns.
    fn run<R: Send + 'static>(
        &self,
        body: impl FnOnce() -> R + Send + 'static,
    ) -> R {
        let (sender, result) = mpsc::channel();
        self.begin(move || drop(sender.send(body())));
        result.recv().expect("it doesn't panic")
    }

    /// The same, and doesn't wait for it.
    fn begin(&self, body: impl FnOnce() + Send + 'static) {
        self.0
            .send(Box::new(body))
            .expect("the worker is in a poll");
    }
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

/// Spawns `count` tasks that wait for one another within their polls.
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

/// Spawns a task that may take this worker's LIFO slot, so that all tasks before
/// it are in queues.
fn fill_slot() {
    drop(spawn(async {}));
}

/// Awaits all `tasks`.
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
