//! Breaks clause 2: No lost unpark.
//! Caught by: an_unpark_before_park_counts
//! Also fails: models::a_timed_park_takes_all_tokens_that_came
//! Also fails: models::a_timed_park_that_is_over_takes_all_of_a_token_or_nothing
//! Also fails: any_number_of_unparks_leave_one_token
//! Also fails: a_park_after_a_time_out_works_as_before
//! Also fails: a_timed_park_takes_a_token_that_is_there
//! Also fails: a_token_serves_one_park
//! Also fails: a_token_that_comes_as_time_runs_out_is_taken_once
//! Also fails: a_wake_by_the_future_itself_is_not_lost
//! Also fails: a_wake_from_another_thread_during_poll_is_not_lost
//! Also fails: a_wake_up_causes_one_poll
//! Also fails: a_wake_up_survives_a_future_that_parks
//! Also fails: a_waker_may_be_used_after_block_on_returned
//! Also fails: all_is_freed_once_all_are_gone
//! Also fails: an_unparker_unparks_its_own_parker_only
//! Also fails: any_timeout_will_do
//! Also fails: thousands_of_tokens_between_two_threads_all_arrive
//! Also fails: thousands_of_wakes_between_two_threads_all_arrive
//! Also fails: thread_park_does_not_take_the_token
//! Also fails: two_unparks_leave_one_token
//! Also fails: models::a_wake_up_counts_and_publishes_in_every_order
//! Also fails: models::an_unpark_counts_in_every_order
//! Also fails: models::each_of_two_parks_gets_its_token_in_every_order
//! Also fails: models::what_was_written_before_a_second_unpark_is_seen
//! Also fails: models::what_was_written_before_unpark_is_seen_after_park
//! Also fails: park_does_not_return_without_a_token
//! Also fails: models::what_each_of_two_wakers_wrote_is_seen
//! Also fails: a_wake_up_survives_a_future_that_calls_block_on
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
#[path = "../../../exercises/02-parker/src/tests/mod.rs"]
mod tests;
