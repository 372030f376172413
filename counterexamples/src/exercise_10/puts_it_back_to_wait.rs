//! Breaks clause 11: Shutdown.
//! Caught by: a_task_that_is_polled_as_the_pool_ends_ends_with_the_poll
//! Also fails: tasks_that_never_end_do_not_keep_the_pool
//! Also fails: a_task_may_drop_its_own_pool
//!
//! Who cancels a task takes the future out of it. If a worker has the future
//! just now there is nothing to take out, and so nothing to do. After its poll
//! the worker puts it back, and there it waits for a waker that does nothing
//! any more.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use sync::{Mutex, MutexGuard};

use shared::Shared;
use work::{Work, drop_quietly};

pub use local_executor::{JoinError, JoinHandle};
pub use pool::{Handle, Pool};

/// What this version has of its own.
mod task {
    pub(super) use super::{Next, Task};
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
            Stage::PolledAndWoken if is_pending => {
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

    /// Drops the future. Never panics.
    fn cancel(&self) {
        let mut stage = self.lock();
        if let Stage::Ready(_) | Stage::Asleep(_) = *stage {
            let before = mem::replace(&mut *stage, Stage::Over);
            drop(stage);
            drop_quietly(before);
        }
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

#[path = "../../../solutions/10-one-queue/src/pool.rs"]
mod pool;
#[path = "../../../solutions/10-one-queue/src/shared.rs"]
mod shared;
#[path = "../../../solutions/10-one-queue/src/work.rs"]
mod work;

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/10-one-queue/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/10-one-queue/src/tests/mod.rs"]
mod tests;
