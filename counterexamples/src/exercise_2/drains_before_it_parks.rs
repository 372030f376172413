//! Breaks clause 10: No lost wake-up.
//! Caught by: a_wake_by_the_future_itself_is_not_lost
//! Also fails: a_wake_from_another_thread_during_poll_is_not_lost
//! Also fails: a_wake_up_causes_one_poll
//! Also fails: a_wake_up_survives_a_future_that_parks
//! Also fails: a_waker_may_be_used_after_block_on_returned
//! Also fails: thousands_of_wakes_between_two_threads_all_arrive
//! Also fails: models::a_wake_up_counts_and_publishes_in_every_order
//! Also fails: models::what_each_of_two_wakers_wrote_is_seen
//! Also fails: a_wake_up_survives_a_future_that_calls_block_on
//!
//! Takes an old token away before it parks, so that each poll has a cause of
//! its own. The token may be the wake-up that came during the poll.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

pub use parker::{Parker, Unparker};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let parker = Parker::new();
    let waker = Waker::from(Arc::new(parker.unparker()));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        parker.park_timeout(Duration::ZERO);
        parker.park();
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/02-parker/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/02-parker/src/tests/mod.rs"]
mod tests;
