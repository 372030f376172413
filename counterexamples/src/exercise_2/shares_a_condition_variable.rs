//! Breaks clause 9: Unparkers live on.
//! Caught by: an_unparker_unparks_its_own_parker_only
//!
//! One mutex and one condition variable for all parkers, so that a parker is
//! one byte. `notify_one` then wakes whoever sleeps longest, who finds no token
//! and goes to sleep again.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use Ordering::Relaxed;

use super::time_left;

/// Guards the tokens of all parkers.
static LOCK: Mutex<()> = Mutex::new(());
static ROUSED: Condvar = Condvar::new();

/// Lets a thread sleep until somebody leaves it a token.
#[derive(Default)]
pub struct Parker {
    has_token: Arc<AtomicBool>,
    _not_sync: PhantomData<Cell<()>>,
}

/// Unparks the thread that is parked in the [`Parker`] that it came from.
#[derive(Clone)]
pub struct Unparker {
    has_token: Arc<AtomicBool>,
}

impl Parker {
    /// Makes a parker without a token.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sleeps until there is a token, and takes it.
    pub fn park(&self) {
        let mut guard = LOCK.lock().unwrap();
        while !self.has_token.swap(false, Relaxed) {
            guard = ROUSED.wait(guard).unwrap();
        }
    }

    /// Sleeps until there is a token or `timeout` has passed. Returns `true`
    /// if it has taken a token.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        let deadline = Instant::now().checked_add(timeout);
        let mut guard = LOCK.lock().unwrap();
        loop {
            if self.has_token.swap(false, Relaxed) {
                return true;
            }
            let left = time_left(deadline);
            if left.is_zero() {
                return false;
            }
            guard = ROUSED.wait_timeout(guard, left).unwrap().0;
        }
    }

    /// Makes an unparker of this parker.
    pub fn unparker(&self) -> Unparker {
        Unparker {
            has_token: self.has_token.clone(),
        }
    }
}

impl Unparker {
    /// Leaves a token, and wakes the thread if it is parked.
    pub fn unpark(&self) {
        let guard = LOCK.lock().unwrap();
        self.has_token.store(true, Relaxed);
        drop(guard);
        ROUSED.notify_one();
    }
}

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let parker = Parker::new();
    let unparker = parker.unparker();
    super::poll_and_park(future, || parker.park(), move || unparker.unpark())
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/02-parker/src/tests/mod.rs"]
mod tests;
