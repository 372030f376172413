//! The stage of a task is three bits of one atomic, so that most wake-ups take
//! no lock. No thread ever waits for the lock around the future: only the
//! thread that has set [`POLLED`] takes it, and that is one at a time.
//!
//! *Memory ordering.* Each change is a read-modify-write with Acquire and
//! Release. The thread that sets [`POLLED`] therefore sees what the last poll
//! wrote, and what was written before each wake-up up to then.

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

/// The part in which this version differs.
mod task {
    pub(super) use super::{Next, Task};
}

/// In the queue, or to be put there after the running poll.
// --> cleared by the thread that sets `POLLED`
const WOKEN: u8 = 1;
/// A thread has the future: a worker that polls it, or the thread that cancels
/// it.
// --> cleared after a poll that was pending; stays after the last
const POLLED: u8 = 2;
/// The thread that has the future drops it.
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
            // Put back before the change: the next worker may poll at once.
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

    /// Returns the previous state, or `None` if it wasn't changed.
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
        // Even if it changes nothing: the poll that is still to come must see
        // what was written before this wake-up. AcqRel: see above.
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
