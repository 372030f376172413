//! Breaks clause 2: No lost unpark.
//! Caught by: models::an_unpark_counts_in_every_order
//! Also fails: models::a_timed_park_takes_all_tokens_that_came
//! Also fails: models::a_timed_park_that_is_over_takes_all_of_a_token_or_nothing
//! Also fails: a_token_that_comes_as_time_runs_out_is_taken_once
//! Also fails: park_does_not_return_without_a_token
//! Also fails: thousands_of_tokens_between_two_threads_all_arrive
//! Also fails: thousands_of_wakes_between_two_threads_all_arrive
//! Also fails: models::a_wake_up_counts_and_publishes_in_every_order
//! Also fails: models::each_of_two_parks_gets_its_token_in_every_order
//! Also fails: models::what_was_written_before_a_second_unpark_is_seen
//! Also fails: models::what_was_written_before_unpark_is_seen_after_park
//! Also fails: models::what_each_of_two_wakers_wrote_is_seen
//!
//! The state is atomic and the mutex guards nothing, so `unpark` does without
//! it. But between the look at the state and the sleep there is a moment in
//! which nobody hears a notification. Whoever holds the mutex knows that the
//! moment is over.

use std::cell::Cell;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

use sync::atomic::{AtomicU8, Ordering};
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

/// No token, and nobody sleeps.
const EMPTY: u8 = 0;
/// No token, and the parker's thread sleeps or is about to.
const PARKED: u8 = 1;
/// There is a token.
const NOTIFIED: u8 = 2;

#[derive(Default)]
struct Shared {
    state: AtomicU8,
    lock: Mutex<()>,
    roused: Condvar,
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
        if self.shared.state.swap(NOTIFIED, Release) == PARKED {
            self.shared.rouse();
        }
    }
}

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
            guard = self.roused.wait_timeout(guard, left).unwrap().0;
        }
        self.take_token()
    }

    fn rouse(&self) {
        self.roused.notify_one();
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
