//! Breaks clause 1: Prompt.
//! Caught by: a_ready_future_needs_no_wake_up
//! Also fails: any_number_of_wakes_in_one_poll_count
//! Also fails: a_wake_by_the_future_itself_is_not_lost
//! Also fails: a_wake_from_another_thread_ends_the_sleep
//! Also fails: a_wake_from_another_thread_during_poll_is_not_lost
//! Also fails: waiting_does_not_spin
//! Also fails: a_future_is_polled_until_it_is_ready
//! Also fails: waiting_does_not_poll_by_a_timer
//! Also fails: several_wakes_in_one_poll_are_no_trouble
//! Also fails: thousands_of_wakes_between_two_threads_all_arrive
//! Also fails: a_future_may_borrow_and_be_bound_to_its_thread
//! Also fails: two_waiting_threads_do_not_take_each_others_wake_ups
//! Also fails: every_clone_of_the_waker_wakes
//! Also fails: the_future_is_dropped_once_before_block_on_returns
//! Also fails: the_future_does_not_move_between_polls
//! Also fails: a_panic_of_the_future_reaches_the_caller
//! Also fails: a_wake_up_causes_one_poll
//! Also fails: a_waker_may_be_used_after_block_on_returned
//! Also fails: a_waker_of_an_earlier_poll_wakes
//! Also fails: a_wake_up_within_a_poll_does_not_end_the_next_sleep
//! Also fails: a_wake_up_ends_one_sleep
//! Also fails: the_future_gets_a_waker_that_wakes
//! Also fails: a_wake_up_counts_even_if_stores_arrive_late
//! Also fails: a_waker_still_wakes_after_a_call_within_the_poll
//! Also fails: a_second_wake_up_counts_even_if_stores_arrive_late
//! Also fails: a_wake_up_counts_if_the_poll_has_slept_since_the_one_before
//!
//! The loop sleeps before it polls, as if a future woke its executor when it's
//! created. Nothing wakes the thread, because the future hasn't seen the waker
//! yet.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(ThreadWaker(thread::current())));
    let mut cx = Context::from_waker(&waker);
    loop {
        thread::park();
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
    }
}

struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(test)]
#[path = "../../../exercises/01-block-on/src/tests/mod.rs"]
mod tests;
