//! Breaks clause 2: No lost unpark.
//! Caught by: thousands_of_tokens_between_two_threads_all_arrive
//! Also fails: models::a_timed_park_takes_all_tokens_that_came
//! Also fails: a_long_timeout_is_not_cut_to_a_short_one
//! Also fails: models::a_timed_park_that_is_over_takes_all_of_a_token_or_nothing
//! Also fails: an_unpark_ends_the_sleep
//! Also fails: park_does_not_return_without_a_token
//! Also fails: an_unpark_ends_a_timed_park
//! Also fails: any_timeout_will_do
//! Also fails: a_token_that_comes_as_time_runs_out_is_taken_once
//! Also fails: an_unpark_of_the_thread_does_not_end_a_park
//! Also fails: a_park_after_a_time_out_works_as_before
//! Also fails: a_parked_thread_is_idle
//! Also fails: a_thread_in_a_timed_park_is_idle
//! Also fails: every_clone_unparks
//! Also fails: an_unparker_may_outlive_its_parker
//! Also fails: an_unparker_unparks_its_own_parker_only
//! Also fails: the_future_is_polled_only_when_woken
//! Also fails: a_wake_up_causes_one_poll
//! Also fails: thousands_of_wakes_between_two_threads_all_arrive
//! Also fails: models::a_wake_up_counts_and_publishes_in_every_order
//! Also fails: models::an_unpark_counts_in_every_order
//! Also fails: models::each_of_two_parks_gets_its_token_in_every_order
//! Also fails: models::what_was_written_before_a_second_unpark_is_seen
//! Also fails: models::what_was_written_before_unpark_is_seen_after_park
//! Also fails: models::what_each_of_two_wakers_wrote_is_seen
//!
//! `unpark` notifies first and leaves the token then. The thread wakes up, finds
//! no token and sleeps on, or falls asleep between the two. Nothing notifies it
//! of the token.

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
        let Shared { has_token, roused } = &*self.shared;
        let mut has_token = has_token.lock().unwrap();
        while !*has_token {
            has_token = roused.wait(has_token).unwrap();
        }
        *has_token = false;
    }

    /// Sleeps until there is a token or `timeout` has passed. Returns `true`
    /// if it has taken a token.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        let deadline = Instant::now().checked_add(timeout);
        let Shared { has_token, roused } = &*self.shared;
        let mut has_token = has_token.lock().unwrap();
        while !*has_token {
            let left = time_left(deadline);
            if left.is_zero() {
                return false;
            }
            has_token = roused.wait_timeout(has_token, left).unwrap().0;
        }
        *has_token = false;
        true
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
        self.shared.roused.notify_one();
        *self.shared.has_token.lock().unwrap() = true;
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
