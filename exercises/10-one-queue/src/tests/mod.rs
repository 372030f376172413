//! The checks of exercise 10, one or more for each clause of the contract.
#![allow(
    clippy::drop_non_drop,
    reason = "the types of the stub own nothing yet"
)]

mod ends;
mod histories;
mod late;
mod moments;
mod tasks;
mod workers;

use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use block_on::block_on;
use primitives::chaos::{plan_moment, with_chaos};
use testkit::{
    DropLog, DropProbe, HostileWaker, Lesson, ManualFuture, ManualHandle,
    MustNotMove, Opener, PanicOnDrop, ThreadProbe, Yields, check, idle_cost,
    live_blocks, log_of_this_threads_end, panic_message, race_with_wakes,
};

use super::{JoinError, JoinHandle, Pool};

/// The seed of the chaos runs.
const SEED: u64 = 10;
/// Long enough for threads to do what they mustn't.
const MOMENT: Duration = Duration::from_millis(30);

/// Keeps a worker in a poll until the gate opens. Returns once it is there,
/// with the waker of the task.
fn hold(pool: &Pool, opener: &Opener) -> (JoinHandle<()>, Waker) {
    let (sender, receiver) = mpsc::channel();
    let gate = opener.gate();
    let held = pool.spawn(poll_fn(move |cx| {
        let _ = sender.send(cx.waker().clone());
        gate.wait();
        Poll::Ready(())
    }));
    (held, receiver.recv().expect("the task is polled"))
}

/// Spawns `count` tasks that are pending when this returns.
fn pending_tasks(
    pool: &Pool,
    count: usize,
) -> Vec<(JoinHandle<()>, ManualHandle)> {
    let tasks = (0..count).map(|_| {
        let (future, manual) = ManualFuture::new();
        (pool.spawn(future), manual)
    });
    let tasks: Vec<_> = tasks.collect();
    for (_, manual) in &tasks {
        let _ = manual.wait_until_asleep();
    }
    tasks
}

/// Calls a function when it's dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn await_all<T>(handles: Vec<JoinHandle<T>>) -> Vec<T> {
    let output = |task: JoinHandle<T>| block_on(task).expect("the task ends");
    handles.into_iter().map(output).collect()
}

/// Fails unless `count` tasks can wait for one another within their polls.
fn meet(pool: &Pool, count: usize) -> Vec<ThreadProbe> {
    await_all(meeting(count, |task| pool.spawn(task)))
}

fn meeting<H>(count: usize, spawn: impl Fn(Meeting) -> H) -> Vec<H> {
    let barrier = Arc::new(Barrier::new(count));
    (0..count)
        .map(|_| spawn(Meeting(barrier.clone())))
        .collect()
}

/// Waits for the others in its poll, and returns a probe of its thread.
struct Meeting(Arc<Barrier>);

impl Future for Meeting {
    type Output = ThreadProbe;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<ThreadProbe> {
        self.0.wait();
        Poll::Ready(ThreadProbe::here())
    }
}
