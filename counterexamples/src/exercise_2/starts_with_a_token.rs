//! Breaks clause 1: One token.
//! Caught by: a_new_parker_has_no_token
//! Also fails: models::a_timed_park_that_is_over_takes_all_of_a_token_or_nothing
//! Also fails: all_is_freed_once_all_are_gone
//! Also fails: a_part_of_a_millisecond_is_waited_for_too
//! Also fails: a_park_after_a_time_out_works_as_before
//! Also fails: a_parker_may_move_to_another_thread
//! Also fails: a_timed_park_is_never_early
//! Also fails: a_token_that_comes_as_time_runs_out_is_taken_once
//! Also fails: an_unpark_of_the_thread_does_not_end_a_park
//! Also fails: an_unparker_unparks_its_own_parker_only
//! Also fails: any_timeout_will_do
//! Also fails: models::each_of_two_parks_gets_its_token_in_every_order
//! Also fails: models::what_was_written_before_unpark_is_seen_after_park
//! Also fails: park_does_not_return_without_a_token
//! Also fails: thousands_of_tokens_between_two_threads_all_arrive
//! Also fails: wake_ups_without_a_token_do_not_prolong_a_timed_park
//!
//! A new parker has a token, so that the loop of `block_on` can park before
//! each poll, the first one included. Whoever else makes a parker and parks
//! finds that nothing has happened yet.

use std::cell::Cell;
use std::marker::PhantomData;
use std::pin::pin;
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use sync::{Arc, Condvar, Mutex};

use super::time_left;

/// Lets a thread sleep until somebody leaves it a token.
pub struct Parker {
    shared: Arc<Shared>,
    _not_sync: PhantomData<Cell<()>>,
}

/// Unparks the thread that is parked in the [`Parker`] that it came from.
#[derive(Clone)]
pub struct Unparker {
    shared: Arc<Shared>,
}

struct Shared {
    has_token: Mutex<bool>,
    roused: Condvar,
}

impl Parker {
    /// Makes a parker.
    pub fn new() -> Self {
        Self {
            shared: Arc::new(Shared {
                has_token: Mutex::new(true),
                roused: Condvar::new(),
            }),
            _not_sync: PhantomData,
        }
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
        loop {
            if std::mem::take(&mut *has_token) {
                return true;
            }
            let left = time_left(deadline);
            if left.is_zero() {
                return false;
            }
            let woken = self.shared.roused.wait_timeout(has_token, left);
            has_token = woken.unwrap().0;
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
        *self.shared.has_token.lock().unwrap() = true;
        self.shared.roused.notify_one();
    }
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let parker = Parker::new();
    let waker = Waker::from(std::sync::Arc::new(parker.unparker()));
    let mut cx = Context::from_waker(&waker);
    loop {
        parker.park();
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
    }
}

impl Wake for Unparker {
    fn wake(self: std::sync::Arc<Self>) {
        self.unpark();
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/02-parker/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/02-parker/src/tests/mod.rs"]
mod tests;
