//! A `FuturesUnordered` of tasks, which is polled alternately with the future
//! of `block_on`; and the one-shot channel of the same crate for the outcome.

use std::cell::RefCell;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures::channel::oneshot;
use futures::stream::{FuturesUnordered, Stream};

use super::{EnterGuard, Host, Quiet};
pub use local_executor::JoinError;

#[path = "../../../solutions/09-local-executor/src/catch_unwind.rs"]
mod own_job;

pub use own_job::{CatchUnwind, job};

/// Runs tasks on the thread that it was created on.
#[derive(Default)]
pub struct LocalExecutor(Rc<Tasks>);

#[derive(Default)]
struct Tasks {
    tasks: RefCell<FuturesUnordered<Quiet>>,
    /// The tasks that were spawned since. `None` when the executor is dropped.
    spawned: RefCell<Spawned>,
}

/// The tasks that aren't among the others yet.
struct Spawned(Option<Vec<Quiet>>);

impl Default for Spawned {
    fn default() -> Self {
        Self(Some(Vec::new()))
    }
}

/// After this many tasks have ended, the future of `block_on` is polled.
const TASKS_A_TICK: usize = 64;

impl Tasks {
    /// Polls each ready task. Returns `true` if there is no task.
    fn tick(&self, cx: &mut Context<'_>) -> bool {
        let mut tasks = self.tasks.borrow_mut();
        for _ in 0..TASKS_A_TICK {
            let spawned = self.spawned.borrow_mut().0.as_mut().map(mem::take);
            tasks.extend(spawned.into_iter().flatten());
            match Pin::new(&mut *tasks).poll_next(cx) {
                Poll::Ready(Some(())) => {}
                Poll::Ready(None) => return true,
                Poll::Pending if self.has_spawned() => {}
                Poll::Pending => return false,
            }
        }
        cx.waker().wake_by_ref();
        false
    }

    fn has_spawned(&self) -> bool {
        let spawned = self.spawned.borrow();
        spawned.0.as_ref().is_some_and(|tasks| !tasks.is_empty())
    }
}

impl Host for Tasks {
    fn add(&self, task: Quiet) {
        if let Some(spawned) = &mut self.spawned.borrow_mut().0 {
            spawned.push(task);
        }
    }
}

/// Creates a task from `future` on the executor that runs on this thread.
pub fn spawn<F: Future + 'static>(future: F) -> JoinHandle<F::Output> {
    let here = super::CURRENT.with_borrow(Clone::clone);
    let (job, handle) = job(future);
    let here = here.expect("no executor runs on this thread");
    here.add(Quiet(Some(Box::pin(job))));
    handle
}

impl LocalExecutor {
    /// Creates an executor without tasks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a task from `future`.
    pub fn spawn<F: Future + 'static>(
        &self,
        future: F,
    ) -> JoinHandle<F::Output> {
        let (job, handle) = job(future);
        self.0.add(Quiet(Some(Box::pin(job))));
        handle
    }

    /// Runs `future` until it's ready, and meanwhile the tasks.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let _guard = EnterGuard::enter_alone(self.0.clone());
        let mut future = pin!(future);
        parker::block_on(std::future::poll_fn(|cx| {
            let poll = future.as_mut().poll(cx);
            if poll.is_pending() {
                self.0.tick(cx);
            }
            poll
        }))
    }

    /// Runs the tasks until none is left.
    pub fn run(&self) {
        let _guard = EnterGuard::enter_alone(self.0.clone());
        parker::block_on(std::future::poll_fn(|cx| match self.0.tick(cx) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }));
    }
}

impl Drop for LocalExecutor {
    fn drop(&mut self) {
        let _guard = EnterGuard::enter(self.0.clone());
        let spawned = self.0.spawned.borrow_mut().0.take();
        let tasks = self.0.tasks.take();
        drop((spawned, tasks));
    }
}

/// Creates the two ends of a result.
pub fn outcome<T>() -> (Completer<T>, JoinHandle<T>) {
    let (sender, receiver) = oneshot::channel();
    let handle = JoinHandle {
        receiver,
        waker: None,
    };
    (Completer(Some(sender)), handle)
}

/// Makes the [`JoinHandle`] of the other end ready. Dropping it cancels.
pub struct Completer<T>(Option<oneshot::Sender<Result<T, JoinError>>>);

/// Awaits what a task returns.
pub struct JoinHandle<T> {
    receiver: oneshot::Receiver<Result<T, JoinError>>,
    /// The waker of the last poll, so that the channel never drops the last
    /// clone of a waker: it would do so while it locks senders out.
    waker: Option<Waker>,
}

impl<T> Completer<T> {
    /// Makes the handle ready with `result`.
    pub fn complete(mut self, result: Result<T, JoinError>) {
        let sender = self.0.take().expect("a completer is used once");
        quietly(|| drop(sender.send(result)));
    }
}

impl<T> Drop for Completer<T> {
    fn drop(&mut self) {
        let sender = self.0.take();
        quietly(|| drop(sender));
    }
}

fn quietly(action: impl FnOnce()) {
    let done = catch_unwind(AssertUnwindSafe(action));
    done.unwrap_or_else(mem::forget);
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Self::Output> {
        let replaced = self.waker.replace(cx.waker().clone());
        let received = Pin::new(&mut self.receiver).poll(cx);
        drop(replaced);
        received.map(|it| it.unwrap_or_else(|_| Err(JoinError::cancelled())))
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/09-local-executor/src/tests/mod.rs"]
mod tests;
