//! Breaks clause 3: No lost wake-up.
//! Caught by: a_wake_by_the_future_itself_is_not_lost
//! Also fails: any_number_of_wakes_in_one_poll_count
//! Also fails: a_wake_from_another_thread_during_poll_is_not_lost
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
//! Also fails: a_wake_up_counts_if_the_poll_has_slept_since_the_one_before
//! Also fails: a_second_wake_up_counts_even_if_stores_arrive_late
//!
//! Clears the flag where the wait begins, to start from a clean state. If a
//! wake-up came during the poll, it had set the flag.

// ANCHOR: bug
use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let signal = Arc::new(Signal::default());
    let waker = Waker::from(signal.clone());
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        signal.wait();
    }
}

#[derive(Default)]
struct Signal {
    is_woken: Mutex<bool>,
    woken: Condvar,
}

impl Signal {
    fn wait(&self) {
        let mut is_woken =
            self.is_woken.lock().unwrap_or_else(PoisonError::into_inner);
        // ANCHOR: guilty
        *is_woken = false;
        // ANCHOR_END: guilty
        while !*is_woken {
            is_woken = self
                .woken
                .wait(is_woken)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        *self.is_woken.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.woken.notify_one();
    }
}
// ANCHOR_END: bug

#[cfg(test)]
#[path = "../../../exercises/01-block-on/src/tests/mod.rs"]
mod tests;
