//! Breaks clause 2: Idle.
//! Caught by: waiting_does_not_spin
//! Also fails: waiting_does_not_poll_by_a_timer
//! Also fails: a_wake_up_causes_one_poll
//! Also fails: two_waiting_threads_do_not_take_each_others_wake_ups
//! Also fails: a_wake_up_within_a_poll_does_not_end_the_next_sleep
//! Also fails: the_future_gets_a_waker_that_wakes
//! Tells: the_future_gets_a_waker_that_wakes
//!
//! Polls again and again. The result is always right, but one core is always
//! busy.

use std::hint;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => hint::spin_loop(),
        }
    }
}

#[cfg(test)]
#[path = "../../../exercises/01-block-on/src/tests/mod.rs"]
mod tests;
