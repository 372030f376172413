//! Breaks clause 8: The end.
//! Caught by: a_task_that_has_ended_is_not_polled_again
//! Also fails: the_future_is_gone_when_the_handle_is_ready
//!
//! What is to become of a task is told by the wake-ups during its poll alone:
//! one that was woken goes into the queue. But a task may be woken in the very
//! poll that is its last, and then its future is polled after it was ready.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use local_executor::{Completer, outcome};
use sync::{Mutex, MutexGuard};

use shared::Shared;

pub use local_executor::{JoinError, JoinHandle};
pub use pool::{Handle, Pool};

/// What this version has of its own.
mod task {
    pub(super) use super::{Next, Task};
}
mod work {
    pub(super) use super::work;
}

/// A spawned future. Its wakers, the queue and the pool share it.
struct Task {
    number: u64,
    pool: Arc<Shared>,
    stage: Mutex<Stage>,
}

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
    /// The future is gone, or goes when the poll ends that has it still.
    Over,
}

/// What a worker is to do with a task that it has polled.
enum Next {
    /// Nothing: somebody wakes it.
    Leave,
    /// Put it at the end of the queue.
    Queue,
    /// Forget it.
    Forget,
}

impl Task {
    /// Makes a task that is ready.
    fn new(pool: Arc<Shared>, number: u64, work: Work) -> Arc<Self> {
        Arc::new(Self {
            number,
            pool,
            stage: Mutex::new(Stage::Ready(work)),
        })
    }

    /// Polls the task, which the caller has taken from the queue. Never panics.
    fn run(self: &Arc<Self>) -> Next {
        let Stage::Ready(mut work) = self.enter(Stage::Polled) else {
            // It was cancelled in the queue.
            return Next::Forget;
        };
        let waker = Waker::from(self.clone());
        let mut cx = Context::from_waker(&waker);
        let poll =
            catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(&mut cx)));
        let is_pending = matches!(poll, Ok(Poll::Pending));
        let mut stage = self.lock();
        match &*stage {
            Stage::Polled if is_pending => {
                *stage = Stage::Asleep(work);
                return Next::Leave;
            }
            Stage::PolledAndWoken => {
                *stage = Stage::Ready(work);
                return Next::Queue;
            }
            // The poll was its last, or it was cancelled meanwhile.
            _ => *stage = Stage::Over,
        }
        drop(stage);
        drop_quietly(work);
        drop_quietly(poll);
        Next::Forget
    }

    /// Drops the future, or leaves that to the worker that polls it just now.
    /// Never panics.
    fn cancel(&self) {
        drop_quietly(self.enter(Stage::Over));
    }

    /// Enters the next stage, and returns the one before. There is no way out
    /// of the last one.
    fn enter(&self, next: Stage) -> Stage {
        let mut stage = self.lock();
        match &*stage {
            Stage::Over => Stage::Over,
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

    fn wake_by_ref(self: &Arc<Self>) {
        let mut stage = self.lock();
        match mem::replace(&mut *stage, Stage::PolledAndWoken) {
            Stage::Polled => {}
            Stage::Asleep(work) => {
                *stage = Stage::Ready(work);
                drop(stage);
                self.pool.push(self.clone());
            }
            // The poll is still to come, or there is none to come.
            other => *stage = other,
        }
    }
}

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Polls a spawned future, and completes its handle.
struct Job<F: Future> {
    future: Pin<Box<F>>,
    completer: Option<Completer<F::Output>>,
}

fn work<F>(future: F) -> (Work, JoinHandle<F::Output>)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let (completer, handle) = outcome();
    let job = Job {
        future: Box::pin(future),
        completer: Some(completer),
    };
    (Box::pin(job), handle)
}

impl<F: Future> Future for Job<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let future = self.future.as_mut();
        let poll = catch_unwind(AssertUnwindSafe(|| future.poll(cx)));
        let result = match poll {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(output)) => Ok(output),
            Err(payload) => Err(JoinError::panicked(payload)),
        };
        if let Some(completer) = self.completer.take() {
            completer.complete(result);
        }
        Poll::Ready(())
    }
}

fn drop_quietly<T>(what: T) {
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(what)));
    dropped.unwrap_or_else(mem::forget);
}

#[path = "../../../solutions/10-one-queue/src/pool.rs"]
mod pool;
#[path = "../../../solutions/10-one-queue/src/shared.rs"]
mod shared;

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/10-one-queue/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/10-one-queue/src/tests/mod.rs"]
mod tests;
