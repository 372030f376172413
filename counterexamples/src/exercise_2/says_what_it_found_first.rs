//! Breaks clause 5: Time-outs.
//! Caught by: an_unpark_ends_a_timed_park
//! Also fails: a_long_timeout_is_not_cut_to_a_short_one
//! Also fails: a_token_that_comes_as_time_runs_out_is_taken_once
//! Also fails: any_timeout_will_do
//!
//! Notes whether there is a token, sleeps if there is none, and returns what
//! it has noted. Whoever was unparked in between takes the token and is told
//! that the time was up.

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
    has_token: Mutex<bool>,
    roused: Condvar,
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
            has_token = self.shared.roused.wait(has_token).unwrap();
        }
        *has_token = false;
    }

    /// Sleeps until there is a token or `timeout` has passed. Returns `true`
    /// if it has taken a token.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        let deadline = Instant::now().checked_add(timeout);
        let mut has_token = self.shared.has_token.lock().unwrap();
        let took_token = *has_token;
        while !*has_token {
            let left = time_left(deadline);
            if left.is_zero() {
                break;
            }
            let woken = self.shared.roused.wait_timeout(has_token, left);
            has_token = woken.unwrap().0;
        }
        *has_token = false;
        took_token
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
        *self.shared.has_token.lock().unwrap() = true;
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
