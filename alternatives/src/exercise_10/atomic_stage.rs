//! Where a task stands is three bits of one atomic, so that most wake-ups take
//! no lock. The lock around the future is never waited for: it is taken only by
//! who has set [`POLLED`], and that is one at a time.
//!
//! *Memory ordering.* Each change is a read-modify-write with Acquire and
//! Release. So whoever sets [`POLLED`] sees what the last poll wrote, and what
//! was written before each wake-up up to then.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use primitives::atomic::{
    AtomicU8,
    Ordering::{AcqRel, Acquire},
};

use shared::Shared;
use work::{Work, drop_quietly};

pub use local_executor::{JoinError, JoinHandle};
pub use pool::{Handle, Pool};

/// What this version has of its own.
mod task {
    pub(super) use super::{Next, Task};
}

/// In the queue, or to be put there after the poll that runs.
// --> cleared by who sets `POLLED`
const WOKEN: u8 = 1;
/// Somebody has the future: a worker that polls it, or who cancels it.
// --> cleared after a poll that was pending; stays after the last
const POLLED: u8 = 2;
/// Who has the future drops it.
// --> stays
const CANCELLED: u8 = 4;

struct Task {
    number: u64,
    pool: Arc<Shared>,
    state: AtomicU8,
    work: Mutex<Option<Work>>,
}

enum Next {
    Leave,
    Queue,
    Forget,
}

impl Task {
    fn new(pool: Arc<Shared>, number: u64, work: Work) -> Arc<Self> {
        Arc::new(Self {
            number,
            pool,
            state: AtomicU8::new(WOKEN),
            work: Mutex::new(Some(work)),
        })
    }

    fn run(self: &Arc<Self>) -> Next {
        let taken = self.change(|state| match state {
            WOKEN => Some(POLLED),
            _ => None,
        });
        let Some(mut work) = taken.and_then(|_| self.lock().take()) else {
            return Next::Forget;
        };
        let waker = Waker::from(self.clone());
        let mut cx = Context::from_waker(&waker);
        let poll =
            catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(&mut cx)));
        if matches!(poll, Ok(Poll::Pending)) {
            // Back before the change: the next one to poll may come at once.
            *self.lock() = Some(work);
            let before = self.change(|state| match state & CANCELLED {
                0 => Some(state & !POLLED),
                _ => None,
            });
            match before {
                Some(POLLED) => return Next::Leave,
                Some(_) => return Next::Queue,
                None => {}
            }
            let cancelled = self.lock().take();
            drop_quietly(cancelled);
            return Next::Forget;
        }
        drop_quietly(work);
        drop_quietly(poll);
        Next::Forget
    }

    fn cancel(&self) {
        // AcqRel: see above.
        let before = self.state.fetch_or(CANCELLED | POLLED, AcqRel);
        if before & POLLED == 0 {
            let work = self.lock().take();
            drop_quietly(work);
        }
    }

    /// Returns the state before, or `None` if it was left as it was.
    fn change(&self, next: impl FnMut(u8) -> Option<u8>) -> Option<u8> {
        // AcqRel and Acquire: see above.
        self.state.fetch_update(AcqRel, Acquire, next).ok()
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
        // Also if it changes nothing: what was written before this wake-up is
        // to be seen by the poll that is still to come. AcqRel: see above.
        if self.state.fetch_or(WOKEN, AcqRel) == 0 {
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
