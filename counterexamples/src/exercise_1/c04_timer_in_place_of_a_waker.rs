//! Breaks clause 4: Any thread.
//! Caught by: the_future_gets_a_waker_that_wakes
//! Also fails: waiting_does_not_poll_by_a_timer
//! Also fails: two_waiting_threads_do_not_take_each_others_wake_ups
//! Also fails: a_wake_up_ends_one_sleep
//! Also fails: a_wake_up_causes_one_poll
//! Also fails: a_wake_up_within_a_poll_does_not_end_the_next_sleep
//! Tells: waiting_does_not_poll_by_a_timer
//!
//! Polls with a waker that does nothing, and looks again every ten milliseconds. Each
//! future ends, and each wake-up is lost.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

const INTERVAL: Duration = Duration::from_millis(10);

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        thread::park_timeout(INTERVAL);
    }
}

#[cfg(test)]
#[path = "../../../exercises/01-block-on/src/tests/mod.rs"]
mod tests;
