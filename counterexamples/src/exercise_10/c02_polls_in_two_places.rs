//! Breaks clause 2: One at a time.
//! Caught by: a_task_is_polled_by_one_worker_at_a_time
//! Also fails: models::a_task_behind_one_that_was_put_back_is_polled_in_every_order
//! Also fails: a_task_that_is_woken_in_its_poll_keeps_no_worker_busy
//! Also fails: a_wake_up_during_a_poll_costs_no_worker
//! Also fails: models::a_task_that_comes_as_the_worker_falls_asleep_is_polled_in_every_order
//! Also fails: models::a_task_that_is_spawned_as_the_pool_ends_ends_too_in_every_order
//! Also fails: models::a_wake_up_leads_to_a_poll_in_every_order
//! Also fails: models::dropping_the_pool_ends_workers_and_tasks_in_every_order
//! Also fails: models::one_poll_comes_after_the_other_in_every_order
//! Also fails: models::every_wake_up_publishes_in_every_order
//!
//! A task is in the queue at most once, so at most one worker has taken it from
//! there. That is true of the queue, but not of the future: while the worker
//! polls, the task isn't in the queue, and a wake-up puts it there. The next
//! worker takes it, and two workers have a `&mut` to one future.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use primitives::UnsafeCell;
use primitives::atomic::{AtomicU8, Ordering::AcqRel};

use shared::Shared;
use work::{Work, drop_quietly};

pub use local_executor::{JoinError, JoinHandle};
pub use pool::{Handle, Pool};

/// The part in which this version differs.
mod task {
    pub(super) use super::{Next, Task};
}

/// In the queue.
const QUEUED: u8 = 1;
/// A thread has the future: a worker that polls it, or the thread that cancels
/// it.
const POLLED: u8 = 2;
/// The future is gone, or the thread that has it drops it.
const OVER: u8 = 4;

struct Task {
    number: u64,
    pool: Arc<Shared>,
    state: AtomicU8,
    work: UnsafeCell<Option<Work>>,
}

// SAFETY: only the worker that has taken the task from the queue accesses the
// work. A task isn't put into the queue while it's there.
unsafe impl Sync for Task {}

enum Next {
    Leave,
    #[expect(dead_code, reason = "a wake-up does that")]
    Queue,
    Forget,
}

impl Task {
    fn new(pool: Arc<Shared>, number: u64, work: Work) -> Arc<Self> {
        Arc::new(Self {
            number,
            pool,
            state: AtomicU8::new(QUEUED),
            work: UnsafeCell::new(Some(work)),
        })
    }

    // ANCHOR: bug
    fn run(self: &Arc<Self>) -> Next {
        // Before the poll, so that a wake-up during the poll counts.
        self.state.fetch_and(!QUEUED, AcqRel);
        // ANCHOR: guilty
        if self.state.fetch_or(POLLED, AcqRel) & OVER != 0 {
        // ANCHOR_END: guilty
            return Next::Forget;
        }
        let waker = Waker::from(self.clone());
        let is_pending = self.poll(&mut Context::from_waker(&waker));
        if is_pending && self.state.fetch_and(!POLLED, AcqRel) & OVER == 0 {
            return Next::Leave;
        }
        self.state.fetch_or(OVER, AcqRel);
        drop_quietly(self.take());
        Next::Forget
    }
    // ANCHOR_END: bug

    fn poll(&self, cx: &mut Context<'_>) -> bool {
        let poll = self.work.with_mut(|work| {
            // SAFETY: this worker has taken the task from the queue.
            let work = unsafe { &mut *work };
            work.as_mut().map(|work| {
                catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx)))
            })
        });
        matches!(poll, Some(Ok(Poll::Pending)))
    }

    fn take(&self) -> Option<Work> {
        // SAFETY: the task is over: no worker polls it anymore.
        self.work.with_mut(|work| unsafe { (*work).take() })
    }

    fn cancel(&self) {
        if self.state.fetch_or(OVER | POLLED, AcqRel) & POLLED == 0 {
            drop_quietly(self.take());
        }
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    // ANCHOR: wake
    fn wake_by_ref(self: &Arc<Self>) {
        // ANCHOR: guilty_2
        if self.state.fetch_or(QUEUED, AcqRel) & (QUEUED | OVER) == 0 {
        // ANCHOR_END: guilty_2
            self.pool.push(self.clone());
        }
    }
    // ANCHOR_END: wake
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
