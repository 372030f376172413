//! Breaks clause 7: Independent.
//! Caught by: thread_park_does_not_take_the_token
//! Also fails: any_number_of_unparks_leave_one_token
//! Also fails: a_parker_may_move_to_another_thread
//! Also fails: a_timed_park_is_never_early
//! Also fails: a_token_that_comes_as_time_runs_out_is_taken_once
//! Also fails: a_wake_up_survives_a_future_that_parks
//! Also fails: an_unpark_of_the_thread_does_not_end_a_park
//! Also fails: an_unparker_unparks_its_own_parker_only
//! Also fails: any_timeout_will_do
//! Also fails: park_does_not_return_without_a_token
//! Also fails: the_future_is_polled_only_when_woken
//! Also fails: thousands_of_tokens_between_two_threads_all_arrive
//! Also fails: wake_ups_without_a_token_do_not_prolong_a_timed_park
//! Also fails: models::each_of_two_parks_gets_its_token_in_every_order
//! Also fails: a_wake_up_survives_a_future_that_calls_block_on
//!
//! A thread has a token already, so why another? Because everybody on the
//! thread shares it: what takes it may be a lock, and what leaves it may be a
//! channel.

use std::cell::Cell;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

use sync::thread::{self, Thread};

/// Lets a thread sleep until somebody leaves it a token.
pub struct Parker {
    thread: Thread,
    _not_sync: PhantomData<Cell<()>>,
}

/// Unparks the thread that made the [`Parker`] that it came from.
#[derive(Clone)]
pub struct Unparker {
    thread: Thread,
}

impl Parker {
    /// Makes a parker of this thread.
    pub fn new() -> Self {
        Self {
            thread: thread::current(),
            _not_sync: PhantomData,
        }
    }

    /// Sleeps until there is a token, and takes it.
    pub fn park(&self) {
        thread::park();
    }

    /// Sleeps until there is a token or `timeout` has passed. Returns `true`
    /// if it has taken a token.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        let start = Instant::now();
        thread::park_timeout(timeout);
        start.elapsed() < timeout
    }

    /// Makes an unparker of this thread.
    pub fn unparker(&self) -> Unparker {
        Unparker {
            thread: self.thread.clone(),
        }
    }
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

impl Unparker {
    /// Leaves a token, and wakes the thread if it is parked.
    pub fn unpark(&self) {
        self.thread.unpark();
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
