//! Another correct design: `unpark` increments a count, and the parker
//! remembers the last count that it has seen. There is a token as long as the
//! two differ, no matter how many unparks there were.

use std::cell::Cell;
use std::time::{Duration, Instant};

use primitives::{Arc, Condvar, Mutex};

use super::time_left;

/// Lets a thread sleep until another thread leaves it a token.
#[derive(Default)]
pub struct Parker {
    shared: Arc<Shared>,
    /// The count when a token was last taken.
    seen: Cell<u64>,
}

/// Unparks the thread that is parked in the [`Parker`] that it came from.
#[derive(Clone)]
pub struct Unparker {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    unparks: Mutex<u64>,
    counted: Condvar,
}

impl Parker {
    /// Makes a parker without a token.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sleeps until there is a token, and takes it.
    pub fn park(&self) {
        let mut unparks = self.shared.unparks.lock().unwrap();
        while self.seen.get() == *unparks {
            unparks = self.shared.counted.wait(unparks).unwrap();
        }
        self.seen.set(*unparks);
    }

    /// Sleeps until there is a token or `timeout` has passed. Returns `true`
    /// if it has taken a token.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        let deadline = Instant::now().checked_add(timeout);
        let mut unparks = self.shared.unparks.lock().unwrap();
        loop {
            if self.seen.replace(*unparks) != *unparks {
                return true;
            }
            let left = time_left(deadline);
            if left.is_zero() {
                return false;
            }
            let woken = self.shared.counted.wait_timeout(unparks, left);
            unparks = woken.unwrap().0;
        }
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
        *self.shared.unparks.lock().unwrap() += 1;
        self.shared.counted.notify_one();
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
