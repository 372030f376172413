//! Breaks clause 4: Any thread.
//! Caught by: a_wake_from_another_thread_ends_the_sleep
//! Also fails: the_future_does_not_move_between_polls
//! Also fails: a_wake_from_another_thread_during_poll_is_not_lost
//! Also fails: thousands_of_wakes_between_two_threads_all_arrive
//! Also fails: every_clone_of_the_waker_wakes
//! Also fails: two_waiting_threads_do_not_take_each_others_wake_ups
//! Also fails: a_wake_up_causes_one_poll
//! Also fails: waiting_does_not_spin
//! Also fails: waiting_does_not_poll_by_a_timer
//! Also fails: a_waker_of_an_earlier_poll_wakes
//! Also fails: a_wake_up_within_a_poll_does_not_end_the_next_sleep
//! Also fails: a_wake_up_counts_even_if_stores_arrive_late
//! Also fails: a_waker_still_wakes_after_a_call_within_the_poll
//! Also fails: a_second_wake_up_counts_even_if_stores_arrive_late
//! Also fails: a_wake_up_counts_if_the_poll_has_slept_since_the_one_before
//!
//! Asks for the current thread when it wakes, instead of when it's made. A
//! future that wakes itself works, but any other thread that wakes it unparks
//! itself.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(UnparkCurrent));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        thread::park();
    }
}

struct UnparkCurrent;

impl Wake for UnparkCurrent {
    fn wake(self: Arc<Self>) {
        thread::current().unpark();
    }
}

#[cfg(test)]
#[path = "../../../exercises/01-block-on/src/tests/mod.rs"]
mod tests;
