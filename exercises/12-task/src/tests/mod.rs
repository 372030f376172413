//! The checks of exercise 12, one or more for each clause of the contract.
#![expect(
    clippy::waker_clone_wake,
    reason = "the check also wakes a clone by value"
)]
#![allow(
    clippy::drop_non_drop,
    reason = "not every future here owns something"
)]

mod ends;
mod handles;
mod histories;
mod memory;
mod moments;
mod queues;
mod runs;
mod ways;
mod yields;

use std::collections::VecDeque;
use std::future::{pending, poll_fn, ready};
use std::hint::black_box;
use std::panic::panic_any;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};
use std::thread;
use std::time::Duration;

use primitives::chaos::{at_moment, read_modify_writes, with_chaos};
use testkit::{
    CountingWaker, DropLog, DropProbe, HostileWaker, Lesson, ManualFuture,
    ManualHandle, MustNotMove, PanicOnDrop, Rendezvous, StackWakers, Yields,
    allocations, check, live_bytes, panic_message, race_with_wakes,
    start_elsewhere, wakers_without_data,
};

use super::{
    JoinError, JoinHandle, OwnedTasks, Runnable, Schedule, spawn, yield_now,
};

/// Determines what happens under chaos.
const SEED: u64 = 12;
/// A future with this many bytes shows up in the process's memory.
const LARGE: usize = 1 << 16;

/// A scheduler that keeps what it is given until the check runs it.
#[derive(Clone, Default)]
struct Queue(Arc<Shared>);

#[derive(Default)]
struct Shared {
    tasks: Mutex<VecDeque<Runnable<Queue>>>,
    came: Condvar,
    scheduled: AtomicUsize,
    yielded: AtomicUsize,
    owned: Option<OwnedTasks<Queue>>,
}

impl Schedule for Queue {
    fn schedule(&self, task: Runnable<Self>) {
        self.0.scheduled.fetch_add(1, SeqCst);
        self.push(task);
    }

    fn schedule_yielded(&self, task: Runnable<Self>) {
        self.0.yielded.fetch_add(1, SeqCst);
        self.push(task);
    }

    fn owned(&self) -> Option<&OwnedTasks<Self>> {
        self.0.owned.as_ref()
    }
}

impl Queue {
    /// A queue whose tasks are listed.
    fn with_list() -> Self {
        Self(Arc::new(Shared {
            owned: Some(OwnedTasks::new()),
            ..Shared::default()
        }))
    }

    fn list(&self) -> &OwnedTasks<Self> {
        self.owned().expect("made with a list")
    }

    /// Makes a task and puts it into the queue, which doesn't count as
    /// scheduling.
    fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let (task, handle) = spawn(future, self.clone());
        self.push(task);
        handle
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Runnable<Self>>> {
        self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, task: Runnable<Self>) {
        self.lock().push_back(task);
        self.0.came.notify_one();
    }

    fn pop(&self) -> Option<Runnable<Self>> {
        self.lock().pop_front()
    }

    fn wait_and_pop(&self) -> Runnable<Self> {
        let is_empty = |tasks: &mut VecDeque<_>| tasks.is_empty();
        let tasks = self.0.came.wait_while(self.lock(), is_empty);
        let task = tasks
            .expect("no code panics while it is locked")
            .pop_front();
        task.expect("just waited for it")
    }

    #[track_caller]
    fn run_one(&self) {
        self.pop().expect("a task should be in the queue").run();
    }

    fn run_all(&self) {
        while let Some(task) = self.pop() {
            task.run();
        }
    }

    /// How often the scheduler was called, through either method.
    fn scheduled(&self) -> usize {
        self.0.scheduled.load(SeqCst) + self.yielded()
    }

    fn yielded(&self) -> usize {
        self.0.yielded.load(SeqCst)
    }

    /// Spawns a task and runs it once: it waits to be completed.
    fn spawn_waiting(&self) -> (ManualHandle, Waker, JoinHandle<()>) {
        let (future, task) = ManualFuture::new();
        let handle = self.spawn(future);
        self.run_one();
        let (waker, _) = task.wait_until_polled();
        (task, waker, handle)
    }

    /// Spawns a large task and runs it once. Returns its only waker; its next
    /// poll is ready.
    fn spawn_large(&self) -> (Waker, JoinHandle<()>) {
        let (sender, receiver) = mpsc::channel();
        let (mut sender, ballast) = (Some(sender), [0_u8; LARGE]);
        let handle = self.spawn(poll_fn(move |cx| {
            black_box(&ballast);
            match sender.take() {
                None => Poll::Ready(()),
                Some(sender) => {
                    let _ = sender.send(cx.waker().clone());
                    Poll::Pending
                }
            }
        }));
        self.run_one();
        let waker = receiver.recv().expect("the first poll has sent it");
        (waker, handle)
    }
}

/// Asserts that no large task is left.
#[track_caller]
fn assert_freed(before: isize, when: &str) {
    let left = live_bytes() - before;
    assert!(left < LARGE as isize / 2, "{when} {left} bytes were left");
}

fn poll<T>(
    handle: &mut JoinHandle<T>,
    waker: &Waker,
) -> Poll<Result<T, JoinError>> {
    Pin::new(handle).poll(&mut Context::from_waker(waker))
}

/// What the handle of a task that has ended gives.
#[track_caller]
fn result<T>(mut handle: JoinHandle<T>) -> Result<T, JoinError> {
    match poll(&mut handle, Waker::noop()) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("the task has ended, and its handle waits"),
    }
}

#[track_caller]
fn assert_cancelled<T>(handle: JoinHandle<T>) {
    let error = result(handle).err().expect("it was cancelled");
    assert!(error.is_cancelled(), "the handle says: {error}");
}

/// Does something on another thread, and waits for it.
fn elsewhere<R: Send>(action: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| {
        let other = scope.spawn(action);
        other.join().expect("nothing panics elsewhere")
    })
}

/// Runs the next task on a thread of its own, up to the middle of its poll;
/// then does something, and lets the poll return.
fn in_the_middle_of_a_poll<T: Send + 'static>(
    queue: &Queue,
    end_of_poll: impl FnMut() -> Poll<T> + Send + 'static,
    action: impl FnOnce(&Waker, &JoinHandle<T>),
) -> (JoinHandle<T>, DropLog) {
    let [entered, left] = [(); 2].map(|()| Arc::new(Rendezvous::new()));
    let (probe, drops) = DropProbe::new();
    let (enter, leave) = (entered.clone(), left.clone());
    let seen = Arc::new(Mutex::new(None));
    let (sender, mut end_of_poll, mut is_first) =
        (seen.clone(), end_of_poll, true);
    let handle = queue.spawn(poll_fn(move |cx| {
        let _with_the_future = &probe;
        if std::mem::take(&mut is_first) {
            *sender.lock().unwrap() = Some(cx.waker().clone());
            enter.meet();
            leave.meet();
        }
        end_of_poll()
    }));
    thread::scope(|scope| {
        scope.spawn(|| queue.run_one());
        entered.meet();
        let waker = seen.lock().unwrap().take().expect("the poll has left it");
        action(&waker, &handle);
        let drops = drops.count();
        left.meet();
        assert!(drops == 0, "the future was dropped while it was polled");
    });
    (handle, drops)
}
