//! A task: a spawned future, and where it stands.

use std::mem;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Wake, Waker};

use primitives::{Mutex, MutexGuard};

use super::shared::Shared;
use super::work::{Work, drop_quietly};

/// A spawned future. Its wakers, the queue and the pool share it.
pub struct Task {
    pub number: u64,
    pool: Arc<Shared>,
    stage: Mutex<Stage>,
}

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
    /// The future is gone, or goes when the poll ends that has it still.
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
    /// Makes a task that is ready.
    pub fn new(pool: Arc<Shared>, number: u64, work: Work) -> Arc<Self> {
        Arc::new(Self {
            number,
            pool,
            stage: Mutex::new(Stage::Ready(work)),
        })
    }

    /// Polls the task, which the caller has taken from the queue. Never panics.
    // ANCHOR: run
    pub fn run(self: &Arc<Self>) -> Next {
        let Stage::Ready(mut work) = self.enter(Stage::Polled) else {
            // It was cancelled in the queue.
            return Next::Forget;
        };
        let waker = Waker::from(self.clone());
        let mut cx = Context::from_waker(&waker);
        let is_pending = work.as_mut().poll(&mut cx).is_pending();
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
        Next::Forget
    }
    // ANCHOR_END: run

    /// Drops the future, or leaves that to the worker that polls it just now.
    /// Never panics.
    pub fn cancel(&self) {
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

    // ANCHOR: wake
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
    // ANCHOR_END: wake
}
