//! A task: a spawned future and its stage.

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
/// The stage of a task. It contains the future except while a worker polls it,
/// so no other worker can poll it at the same time.
enum Stage {
    /// In the queue, once.
    // --> Polled (`run`), Over (`cancel`)
    Ready(Work),
    /// A worker has the future, and polls it.
    // --> Asleep, Over (`run`), PolledAndWoken (`wake`), Over (`cancel`)
    Polled,
    /// The same, but the task must be polled again: the poll may have checked
    /// before what it waits for was there.
    // --> Ready, Over (`run`), Over (`cancel`)
    PolledAndWoken,
    /// Waits for a waker.
    // --> Ready (`wake`), Over (`cancel`)
    Asleep(Work),
    /// The future is gone, or will be when the poll that still has it ends.
    Over,
}
// ANCHOR_END: stage

/// What a worker must do with a task that it has polled.
pub enum Next {
    /// Nothing: a wake-up will queue it.
    Leave,
    /// Put it at the end of the queue.
    Queue,
    /// Remove it from the pool's list.
    Forget,
}

impl Task {
    /// Creates a task that is ready.
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
            // The task was cancelled in the queue.
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
            // The poll was the task's last, or the task was cancelled
            // meanwhile.
            _ => *stage = Stage::Over,
        }
        drop(stage);
        drop_quietly(work);
        Next::Forget
    }
    // ANCHOR_END: run

    /// Drops the future, or leaves that to the worker that is polling it. Never
    /// panics.
    pub fn cancel(&self) {
        drop_quietly(self.enter(Stage::Over));
    }

    /// Enters the next stage, and returns the previous one. The last stage is
    /// never left.
    fn enter(&self, next: Stage) -> Stage {
        let mut stage = self.lock();
        match &*stage {
            Stage::Over => Stage::Over,
            _ => mem::replace(&mut *stage, next),
        }
    }

    // A model's failing order shows who locks.
    #[track_caller]
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
            // A poll is still to come, or none will.
            other => *stage = other,
        }
    }
    // ANCHOR_END: wake
}
