//! Breaks clause 3: No lost wake-up.
//! Caught by: a_wake_from_another_thread_during_poll_is_not_lost
//! Also fails: any_number_of_wakes_in_one_poll_count
//! Also fails: a_wake_by_the_future_itself_is_not_lost
//! Also fails: several_wakes_in_one_poll_are_no_trouble
//! Also fails: thousands_of_wakes_between_two_threads_all_arrive
//! Also fails: a_future_is_polled_until_it_is_ready
//! Also fails: every_clone_of_the_waker_wakes
//! Also fails: a_wake_up_causes_one_poll
//! Also fails: the_future_does_not_move_between_polls
//! Also fails: a_future_may_borrow_and_be_bound_to_its_thread
//! Also fails: the_future_is_dropped_once_before_block_on_returns
//! Also fails: a_panic_of_the_future_reaches_the_caller
//! Also fails: a_waker_may_be_used_after_block_on_returned
//! Also fails: a_waker_of_an_earlier_poll_wakes
//! Also fails: a_wake_up_within_a_poll_does_not_end_the_next_sleep
//! Also fails: a_wake_up_counts_even_if_stores_arrive_late
//! Also fails: a_waker_still_wakes_after_a_call_within_the_poll
//! Also fails: a_second_wake_up_counts_even_if_stores_arrive_late
//! Also fails: a_wake_up_counts_if_the_poll_has_slept_since_the_one_before
//!
//! A condition variable without a condition. It wakes only a thread that waits
//! on it at that moment, and a notification that comes a moment early is gone.

use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(bell.clone());
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        let asleep = bell.lock.lock().unwrap_or_else(PoisonError::into_inner);
        drop(bell.rings.wait(asleep));
    }
}

#[derive(Default)]
struct Bell {
    lock: Mutex<()>,
    rings: Condvar,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        let _held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.rings.notify_one();
    }
}

#[cfg(test)]
#[path = "../../../exercises/01-block-on/src/tests/mod.rs"]
mod tests;
