//! Breaks clause 3: No lost wake-up.
//! Caught by: models::wake_ups_of_two_tasks_arrive_in_every_order
//! Order: a deadlock
//!
//! A wake-up unparks the executor only if the hint says that none was pending.
//! The executor clears the hint after it has taken the wake-ups, and without
//! the lock. A wake-up that comes in between finds the hint set and doesn't
//! unpark the executor, and then the hint is cleared.

#[path = "../../../solutions/09-local-executor/src/enter.rs"]
mod enter;
#[path = "../../../solutions/09-local-executor/src/executor.rs"]
mod executor;
#[path = "../../../solutions/09-local-executor/src/slab.rs"]
mod slab;

use std::mem;
use std::sync::{Arc, PoisonError};
use std::task::{Wake, Waker};

use parker::Unparker;
use primitives::atomic::{AtomicBool, Ordering};
use primitives::{Mutex, MutexGuard};

use Ordering::{Acquire, Relaxed, Release};

pub use enter::spawn;
use enter::{EnterGuard, wake_here};
use executor::Core;
pub use executor::LocalExecutor;
pub use local_executor::{
    CatchUnwind, Completer, JoinError, JoinHandle, job, outcome,
};
use slab::{Key, Next, Slab, Task};

/// The target of a task's wakers. It contains the task's key and nothing of the
/// task itself, so it may move to any thread, and live forever.
struct Signal {
    key: Key,
    /// Whether the signal is in the inbox.
    is_sent: AtomicBool,
    inbox: Arc<Inbox>,
}

impl Signal {
    /// Creates the waker of a task.
    fn waker(key: Key, inbox: &Arc<Inbox>) -> Waker {
        Waker::from(Arc::new(Self {
            key,
            is_sent: AtomicBool::new(false),
            inbox: inbox.clone(),
        }))
    }
}

impl Wake for Signal {
    fn wake_by_ref(self: &Arc<Self>) {
        if wake_here(&self.inbox, self.key) {
            return;
        }
        // Release: pairs with the Acquire in `Inbox::take`. A swap, even if the
        // signal is in the inbox: a load would publish nothing.
        if !self.is_sent.swap(true, Release) {
            self.inbox.send(self.clone());
        }
    }

    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }
}

/// Where wake-ups from other threads wait for the executor.
///
/// *Memory ordering.* What a thread wrote before it wakes a task is seen by the
/// poll that follows. The pair is the Release of the swap in `wake_by_ref` and
/// the Acquire of the swap in `take`: whether a wake-up finds the signal sent
/// or sends it, it is part of the flag's release sequence. The parker's token
/// makes sure that the executor checks the inbox before it sleeps, or after
/// it's unparked.
struct Inbox {
    pending: Mutex<PendingWakes>,
    /// Whether wake-ups are pending, to check without the lock.
    has_pending: AtomicBool,
    unparker: Unparker,
}

#[derive(Default)]
struct PendingWakes {
    signals: Vec<Arc<Signal>>,
    /// Whether the executor is gone, and nothing will take any out.
    is_closed: bool,
}

impl Inbox {
    /// Creates an inbox that unparks the executor's thread with `unparker`.
    fn new(unparker: Unparker) -> Arc<Self> {
        Arc::new(Self {
            pending: Mutex::default(),
            has_pending: AtomicBool::new(false),
            unparker,
        })
    }

    // ANCHOR: bug
    fn send(&self, signal: Arc<Signal>) {
        let mut pending = self.lock();
        if pending.is_closed {
            return;
        }
        pending.signals.push(signal);
        drop(pending);
        // Relaxed: a hint. The unpark below publishes it.
        let is_first = !self.has_pending.swap(true, Relaxed);
        // The first wake-up since the last `take` unparks the thread for all of
        // them.
        if is_first {
            self.unparker.unpark();
        }
    }

    /// Takes the keys of all tasks that other threads have woken.
    fn take(&self, mut wake: impl FnMut(Key)) {
        // Relaxed: a wake-up that is missed here leaves a token for the next
        // park.
        if !self.has_pending.load(Relaxed) {
            return;
        }
        let mut pending = self.lock();
        let signals = mem::take(&mut pending.signals);
        drop(pending);
        // ANCHOR: guilty
        self.has_pending.store(false, Relaxed);
        // ANCHOR_END: guilty
        for signal in signals {
            // Acquire: pairs with the Release in `wake_by_ref`, and makes
            // visible what every thread wrote that has woken this task until
            // now.
            signal.is_sent.swap(false, Acquire);
            wake(signal.key);
        }
    }

    // ANCHOR_END: bug
    /// Refuses wake-ups from now on.
    fn close(&self) {
        let mut pending = self.lock();
        pending.is_closed = true;
        pending.signals = Vec::new();
    }

    fn lock(&self) -> MutexGuard<'_, PendingWakes> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/09-local-executor/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/09-local-executor/src/tests/mod.rs"]
mod tests;
