//! Breaks clause 3: All workers.
//! Caught by: a_wake_up_during_a_poll_costs_no_worker
//!
//! A wake-up during the poll puts the task into the queue at once, and the lock
//! around the future makes sure that no two workers poll it at a time. The next
//! worker takes the task, waits for that lock, and is lost for other tasks
//! until the poll ends.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use primitives::atomic::{AtomicBool, Ordering::SeqCst};
use primitives::{Mutex, MutexGuard};

use shared::Shared;
use work::{Work, drop_quietly};

pub use local_executor::{JoinError, JoinHandle};
pub use pool::{Handle, Pool};

/// The part in which this version differs.
mod task {
    pub(super) use super::{Next, Task};
}

struct Task {
    number: u64,
    pool: Arc<Shared>,
    is_queued: AtomicBool,
    is_cancelled: AtomicBool,
    work: Mutex<Option<Work>>,
}

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
            is_queued: AtomicBool::new(true),
            is_cancelled: AtomicBool::new(false),
            work: Mutex::new(Some(work)),
        })
    }

    fn run(self: &Arc<Self>) -> Next {
        // Before the poll, so that a wake-up during the poll counts.
        self.is_queued.store(false, SeqCst);
        let waker = Waker::from(self.clone());
        let mut cx = Context::from_waker(&waker);
        // The lock makes sure that one worker at a time polls.
        let mut slot = self.lock();
        let Some(work) = &mut *slot else {
            return Next::Forget;
        };
        let poll =
            catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(&mut cx)));
        let is_pending = matches!(poll, Ok(Poll::Pending));
        drop(slot);
        if is_pending && !self.is_cancelled.load(SeqCst) {
            return Next::Leave;
        }
        let over = self.lock().take();
        drop_quietly(over);
        drop_quietly(poll);
        Next::Forget
    }

    fn cancel(&self) {
        self.is_cancelled.store(true, SeqCst);
        // If a worker has the lock, it drops the future after the poll.
        let cancelled = self.work.try_lock().map(|mut work| work.take());
        if let Ok(work) = cancelled {
            drop_quietly(work);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Work>> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_queued.swap(true, SeqCst) {
            self.pool.push(self.clone());
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
