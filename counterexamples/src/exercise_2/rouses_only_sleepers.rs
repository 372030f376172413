//! Breaks clause 2: No lost unpark.
//! Caught by: an_unpark_before_park_counts
//!
//! The flag says that somebody sleeps, and `unpark` takes it back. It says
//! nothing about an `unpark` that came before.

use std::cell::Cell;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

use sync::{Arc, Condvar, Mutex};

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
    sleeps: Mutex<bool>,
    roused: Condvar,
}

impl Parker {
    /// Makes a parker without a token.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sleeps until unparked.
    pub fn park(&self) {
        let mut sleeps = self.shared.sleeps.lock().unwrap();
        *sleeps = true;
        while *sleeps {
            sleeps = self.shared.roused.wait(sleeps).unwrap();
        }
    }

    /// Sleeps until unparked or until `timeout` has passed. Returns `true` if
    /// it was unparked.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        let deadline = Instant::now().checked_add(timeout);
        let mut sleeps = self.shared.sleeps.lock().unwrap();
        *sleeps = true;
        while *sleeps {
            let left = time_left(deadline);
            if left.is_zero() {
                break;
            }
            let woken = self.shared.roused.wait_timeout(sleeps, left);
            sleeps = woken.unwrap().0;
        }
        !std::mem::take(&mut *sleeps)
    }

    /// Makes an unparker of this parker.
    pub fn unparker(&self) -> Unparker {
        Unparker {
            shared: self.shared.clone(),
        }
    }
}

impl Unparker {
    /// Wakes the thread if it is parked.
    pub fn unpark(&self) {
        *self.shared.sleeps.lock().unwrap() = false;
        self.shared.roused.notify_one();
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
#[path = "../../../exercises/02-parker/src/tests.rs"]
mod tests;
