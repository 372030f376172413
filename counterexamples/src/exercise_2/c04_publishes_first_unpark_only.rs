//! Breaks clause 4: Published.
//! Caught by: models::what_was_written_before_a_second_unpark_is_seen
//! Order: a deadlock after an old value
//! Also fails: models::a_timed_park_takes_all_tokens_that_came
//! Also fails: models::what_each_of_two_wakers_wrote_is_seen
//!
//! If there is a token already, `unpark` stores nothing, because one is enough.
//! However, it publishes nothing either: the parking thread takes another
//! thread's token, and might not see what was written before this `unpark`. std
//! had this bug until 2018.

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

// ANCHOR: unpark
impl Unparker {
    /// Leaves a token, and wakes the thread if it is parked.
    pub fn unpark(&self) {
        let state = &self.shared.state;
        match state.compare_exchange(EMPTY, NOTIFIED, Release, Relaxed) {
            Ok(_) => {}         // Not parked.
            Err(NOTIFIED) => {} // There is a token already.
            Err(_) => {
                if state.swap(NOTIFIED, Release) == PARKED {
                    self.shared.notify();
                }
            }
        }
    }
}
// ANCHOR_END: unpark

impl Shared {
    fn take_token(&self) -> bool {
        self.state.swap(EMPTY, Acquire) == NOTIFIED
    }

    fn sleep(&self, deadline: Option<Instant>) -> bool {
        let mut guard = self.lock.lock().unwrap();
        let _ = self.state.compare_exchange(EMPTY, PARKED, Relaxed, Relaxed);
        while self.state.load(Relaxed) == PARKED {
            let left = time_left(deadline);
            if left.is_zero() {
                break;
            }
            guard = self.woken.wait_timeout(guard, left).unwrap().0;
        }
        self.take_token()
    }

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
