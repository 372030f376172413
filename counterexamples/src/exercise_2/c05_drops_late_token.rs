//! Breaks clause 5: Timeouts.
//! Caught by: a_token_that_comes_as_time_runs_out_is_taken_once
//!
//! When the condition variable says that the time was up, the state is reset to
//! EMPTY without a look at it. Between the end of the time and this store the
//! thread has to wake up, and a token that comes meanwhile is gone.

use std::cell::Cell;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

use primitives::atomic::{AtomicU8, Ordering};
use primitives::{Arc, Condvar, Mutex};

use Ordering::{Acquire, Relaxed, Release};

use super::time_left;

/// Lets a thread sleep until another thread leaves it a token.
#[derive(Default)]
pub struct Parker {
    shared: Arc<Shared>,
    _not_sync: PhantomData<Cell<()>>,
}

/// Unparks the thread that is parked in the [`Parker`] that it came from.
#[derive(Clone)]
pub struct Unparker {
    shared: Arc<Shared>,
}

/// No token, and the thread doesn't sleep.
const EMPTY: u8 = 0;
/// No token, and the parker's thread sleeps or is about to.
const PARKED: u8 = 1;
/// There is a token.
const NOTIFIED: u8 = 2;

#[derive(Default)]
struct Shared {
    state: AtomicU8,
    lock: Mutex<()>,
    woken: Condvar,
}

impl Parker {
    /// Makes a parker without a token.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sleeps until there is a token, and takes it.
    pub fn park(&self) {
        if !self.shared.take_token() {
            self.shared.sleep(None);
        }
    }

    /// Sleeps until there is a token or `timeout` has passed. Returns `true`
    /// if it has taken a token.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        self.shared.take_token()
            || self.shared.sleep(Instant::now().checked_add(timeout))
    }

    /// Creates an unparker of this parker.
    pub fn unparker(&self) -> Unparker {
        Unparker {
            shared: self.shared.clone(),
        }
    }
}

impl Unparker {
    /// Leaves a token, and wakes the thread if it is parked.
    pub fn unpark(&self) {
        if self.shared.state.swap(NOTIFIED, Release) == PARKED {
            self.shared.notify();
        }
    }
}

impl Shared {
    fn take_token(&self) -> bool {
        self.state.swap(EMPTY, Acquire) == NOTIFIED
    }

    // ANCHOR: bug
    fn sleep(&self, deadline: Option<Instant>) -> bool {
        let mut guard = self.lock.lock().unwrap();
        let _ = self.state.compare_exchange(EMPTY, PARKED, Relaxed, Relaxed);
        while self.state.load(Relaxed) == PARKED {
            let left = time_left(deadline);
            if left.is_zero() {
                break;
            }
            let woken = self.woken.wait_timeout(guard, left).unwrap();
            if woken.1.timed_out() {
                // ANCHOR: guilty
                self.state.store(EMPTY, Relaxed);
                return false;
                // ANCHOR_END: guilty
            }
            guard = woken.0;
        }
        self.take_token()
    }
    // ANCHOR_END: bug

    fn notify(&self) {
        // The thread holds the lock until it sleeps, so the notification
        // reaches it.
        drop(self.lock.lock().unwrap());
        self.woken.notify_one();
    }
}

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let parker = Parker::new();
    let unparker = parker.unparker();
    super::poll_and_park(future, || parker.park(), move || unparker.unpark())
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/02-parker/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/02-parker/src/tests/mod.rs"]
mod tests;
