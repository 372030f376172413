//! Breaks clause 9: Unparkers live on.
//! Caught by: every_clone_unparks
//!
//! Counts its unparkers, so that a `park` which nobody can end panics instead
//! of sleeping for ever. `unparker` adds one, `drop` takes one away, and a
//! derived `Clone` knows nothing of either: with the first of two unparkers
//! both are taken to be gone.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem;
use std::time::{Duration, Instant};

use sync::atomic::{AtomicUsize, Ordering};
use sync::{Arc, Condvar, Mutex};

use Ordering::{Acquire, Relaxed, Release};

use super::time_left;

/// Lets a thread sleep until somebody leaves it a token.
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

#[derive(Default)]
struct Shared {
    has_token: Mutex<bool>,
    roused: Condvar,
    /// When there is none left, a thread that parks would sleep for ever.
    unparker_count: AtomicUsize,
}

impl Parker {
    /// Makes a parker without a token.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sleeps until there is a token, and takes it.
    pub fn park(&self) {
        let mut has_token = self.shared.has_token.lock().unwrap();
        while !*has_token {
            let unparkers = self.shared.unparker_count.load(Acquire);
            assert!(unparkers > 0, "nobody is left to unpark this thread");
            has_token = self.shared.roused.wait(has_token).unwrap();
        }
        *has_token = false;
    }

    /// Sleeps until there is a token or `timeout` has passed. Returns `true`
    /// if it has taken a token.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        let deadline = Instant::now().checked_add(timeout);
        let mut has_token = self.shared.has_token.lock().unwrap();
        while !*has_token {
            let left = time_left(deadline);
            if left.is_zero() {
                break;
            }
            let woken = self.shared.roused.wait_timeout(has_token, left);
            has_token = woken.unwrap().0;
        }
        mem::take(&mut *has_token)
    }

    /// Makes an unparker of this parker.
    pub fn unparker(&self) -> Unparker {
        // Relaxed: only this thread makes unparkers, and looks for them.
        self.shared.unparker_count.fetch_add(1, Relaxed);
        Unparker {
            shared: self.shared.clone(),
        }
    }
}

impl Unparker {
    /// Leaves a token, and wakes the thread if it is parked.
    pub fn unpark(&self) {
        *self.shared.has_token.lock().unwrap() = true;
        self.shared.roused.notify_one();
    }
}

impl Drop for Unparker {
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `park`.
        if self.shared.unparker_count.fetch_sub(1, Release) == 1 {
            // The thread holds the lock until it sleeps, and so hears us.
            drop(self.shared.has_token.lock());
            self.shared.roused.notify_one();
        }
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
