//! Breaks clause 5: Wake-ups.
//! Caught by: a_wake_up_during_a_poll_leads_to_another
//! Also fails: models::a_task_behind_one_that_was_put_back_is_polled_in_every_order
//! Also fails: a_task_that_has_ended_leaves_nothing_in_the_pool
//! Also fails: tasks_are_polled_by_the_workers_of_their_own_pool
//! Also fails: a_task_is_polled_by_one_worker_at_a_time
//! Also fails: a_wake_up_during_a_poll_costs_no_worker
//! Also fails: a_task_that_comes_as_a_worker_falls_asleep_is_polled
//! Also fails: many_wake_ups_lead_to_one_poll
//! Also fails: a_task_that_wakes_itself_goes_behind_the_others
//! Also fails: a_task_that_has_ended_is_not_polled_again
//! Also fails: the_future_is_gone_when_the_handle_is_ready
//! Also fails: a_panic_reaches_the_handle_and_nobody_else
//! Also fails: tasks_that_never_end_do_not_keep_the_pool
//! Also fails: models::a_wake_up_leads_to_a_poll_in_every_order
//! Also fails: models::one_poll_comes_after_the_other_in_every_order
//!
//! A task that waits is put into the queue when it is woken, and one that is in
//! the queue is not put there twice. And one that is being polled? It is awake,
//! so it need not be woken. But its poll may have looked already for what comes
//! only now.

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
    // --> Asleep, Over (`run`), Over (`cancel`)
    Polled,
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
    #[expect(dead_code, reason = "only a wake-up does that")]
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
        match mem::replace(&mut *stage, Stage::Polled) {
            Stage::Asleep(work) => {
                *stage = Stage::Ready(work);
                drop(stage);
                self.pool.push(self.clone());
            }
            // It is awake already, or over.
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
