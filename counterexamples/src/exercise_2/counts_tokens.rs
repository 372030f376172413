//! Breaks clause 1: One token.
//! Caught by: two_unparks_leave_one_token
//! Also fails: any_number_of_unparks_leave_one_token
//!
//! Counts the tokens, so that none is lost: a semaphore. Two wake-ups before
//! one poll then cause two polls, and a waker that is called often saves up a
//! long busy loop.

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
    tokens: Mutex<u32>,
    roused: Condvar,
}

impl Parker {
    /// Makes a parker without a token.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sleeps until there is a token, and takes it.
    pub fn park(&self) {
        let mut tokens = self.shared.tokens.lock().unwrap();
        while *tokens == 0 {
            tokens = self.shared.roused.wait(tokens).unwrap();
        }
        *tokens -= 1;
    }

    /// Sleeps until there is a token or `timeout` has passed. Returns `true`
    /// if it has taken a token.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        let deadline = Instant::now().checked_add(timeout);
        let mut tokens = self.shared.tokens.lock().unwrap();
        loop {
            if *tokens > 0 {
                *tokens -= 1;
                return true;
            }
            let left = time_left(deadline);
            if left.is_zero() {
                return false;
            }
            let woken = self.shared.roused.wait_timeout(tokens, left);
            tokens = woken.unwrap().0;
        }
    }

    /// Makes an unparker of this parker.
    pub fn unparker(&self) -> Unparker {
        Unparker {
            shared: self.shared.clone(),
        }
    }
}

impl Unparker {
    /// Leaves a token, and wakes the thread if it is parked.
    pub fn unpark(&self) {
        *self.shared.tokens.lock().unwrap() += 1;
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
#[path = "../../../exercises/02-parker/src/tests/mod.rs"]
mod tests;
