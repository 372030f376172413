//! A task: a future, and where it stands.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::{future, mem};

use local_executor::{JoinError, JoinHandle, outcome};
use sync::{Mutex, MutexGuard};

use super::pool::Shared;

/// A spawned future. Its wakers, the queue and the pool share it.
pub struct Task {
    pub number: u64,
    pool: Arc<Shared>,
    stage: Mutex<Stage>,
}

/// The spawned future, and then what becomes of its output.
type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

// ANCHOR: stage
/// Where a task stands. The future lies where nobody can poll it twice: who
/// polls takes it out.
enum Stage {
    /// In the queue, once.
    // --> Polled (`run`), Over (`cancel`)
    Ready(Work),
    /// A worker has the future, and polls it.
    // --> Asleep, Over (`run`), PolledAndWoken (`wake`), Over (`cancel`)
    Polled,
    /// The same, and it must be polled again: the poll may have looked before
    /// what it waits for was there.
    // --> Ready, Over (`run`), Over (`cancel`)
    PolledAndWoken,
    /// Waits for a waker.
    // --> Ready (`wake`), Over (`cancel`)
    Asleep(Work),
    /// Its future is gone, or is dropped by who polls it.
    Over,
}
// ANCHOR_END: stage

/// What a worker is to do with a task that it has polled.
pub enum Next {
    /// Nothing: somebody wakes it.
    Leave,
    /// Put it at the end of the queue.
    Queue,
    /// Forget it.
    Forget,
}

impl Task {
    /// Makes a task that is ready, and the handle of its output.
    pub fn new<F>(
        pool: Arc<Shared>,
        number: u64,
        future: F,
    ) -> (Arc<Self>, JoinHandle<F::Output>)
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let (completer, handle) = outcome();
        let work = Box::pin(async move {
            let result = {
                let mut future = pin!(future);
                future::poll_fn(|cx| caught(future.as_mut(), cx)).await
            };
            // The future is gone: who awaits the handle can rely on it.
            completer.complete(result);
        });
        let task = Self {
            number,
            pool,
            stage: Mutex::new(Stage::Ready(work)),
        };
        (Arc::new(task), handle)
    }

    /// Polls the task, which somebody has taken from the queue. Never panics.
    // ANCHOR: run
    pub fn run(self: &Arc<Self>) -> Next {
        let Stage::Ready(mut work) = self.enter(Stage::Polled) else {
            // Over: it was cancelled in the queue.
            return Next::Forget;
        };
        let waker = Waker::from(self.clone());
        let mut cx = Context::from_waker(&waker);
        let poll =
            catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(&mut cx)));
        let mut stage = self.lock();
        match *stage {
            Stage::Polled if matches!(poll, Ok(Poll::Pending)) => {
                *stage = Stage::Asleep(work);
                Next::Leave
            }
            Stage::PolledAndWoken if matches!(poll, Ok(Poll::Pending)) => {
                *stage = Stage::Ready(work);
                Next::Queue
            }
            _ => {
                *stage = Stage::Over;
                drop(stage);
                drop_quietly((work, poll));
                Next::Forget
            }
        }
    }
    // ANCHOR_END: run

    /// Drops the future, or lets the worker do so that polls it just now.
    /// Never panics.
    pub fn cancel(&self) {
        drop_quietly(self.enter(Stage::Over));
    }

    /// Enters the next stage, and returns the one before.
    fn enter(&self, next: Stage) -> Stage {
        let mut stage = self.lock();
        match (&*stage, &next) {
            (Stage::Over, _) => Stage::Over,
            _ => mem::replace(&mut *stage, next),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    // ANCHOR: wake
    fn wake_by_ref(self: &Arc<Self>) {
        let mut stage = self.lock();
        match mem::replace(&mut *stage, Stage::PolledAndWoken) {
            Stage::Asleep(work) => {
                *stage = Stage::Ready(work);
                drop(stage);
                self.pool.push(self.clone());
            }
            Stage::Polled => {}
            as_before => *stage = as_before,
        }
    }
    // ANCHOR_END: wake
}

/// Polls a spawned future, and makes a result of its panic.
fn caught<F: Future>(
    future: Pin<&mut F>,
    cx: &mut Context<'_>,
) -> Poll<Result<F::Output, JoinError>> {
    match catch_unwind(AssertUnwindSafe(|| future.poll(cx))) {
        Ok(poll) => poll.map(Ok),
        Err(payload) => Poll::Ready(Err(JoinError::panicked(payload))),
    }
}

/// Drops what belongs to a task. Its destructors are anybody's code: they run
/// without a lock, and their panics end here.
fn drop_quietly<T>(what: T) {
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(what)));
    // What was thrown may panic in turn when it is dropped.
    dropped.unwrap_or_else(mem::forget);
}
