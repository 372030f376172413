//! Another correct design: the token is a flag under a mutex, with a condition
//! variable. It locks where the solution swaps, and the mutex publishes what
//! was written before `unpark`.

use std::cell::Cell;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

use primitives::{Arc, Condvar, Mutex};

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

#[derive(Default)]
struct Shared {
    has_token: Mutex<bool>,
    woken: Condvar,
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
            has_token = self.shared.woken.wait(has_token).unwrap();
        }
        *has_token = false;
    }

    /// Sleeps until there is a token or `timeout` has passed. Returns `true`
    /// if it has taken a token.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        let deadline = Instant::now().checked_add(timeout);
        let mut has_token = self.shared.has_token.lock().unwrap();
        loop {
            if std::mem::take(&mut *has_token) {
                return true;
            }
            let left = time_left(deadline);
            if left.is_zero() {
                return false;
            }
            let woken = self.shared.woken.wait_timeout(has_token, left);
            has_token = woken.unwrap().0;
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
        *self.shared.has_token.lock().unwrap() = true;
        self.shared.woken.notify_one();
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
