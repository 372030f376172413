//! Breaks clause 3: No lost wake-up.
//! Caught by: thousands_of_wakes_between_two_threads_all_arrive
//! Also fails: a_wake_up_counts_even_if_stores_arrive_late
//! Also fails: a_second_wake_up_counts_even_if_stores_arrive_late
//! Also fails: a_wake_up_causes_one_poll
//! Also fails: a_wake_up_within_a_poll_does_not_end_the_next_sleep
//! Also fails: a_waker_still_wakes_after_a_call_within_the_poll
//! Also fails: two_waiting_threads_do_not_take_each_others_wake_ups
//! Also fails: the_future_does_not_move_between_polls
//! Also fails: waiting_does_not_spin
//! Also fails: waiting_does_not_poll_by_a_timer
//!
//! `wake` notifies first, and sets the flag after that. A thread that begins to
//! wait between the two has missed the notification, and no other will come.

use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
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
        let woken = signal.woken.wait_while(signal.lock(), |woken| !*woken);
        *woken.unwrap_or_else(PoisonError::into_inner) = false;
    }
}

#[derive(Default)]
struct Signal {
    is_woken: Mutex<bool>,
    woken: Condvar,
}

impl Signal {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_woken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.woken.notify_one();
        *self.lock() = true;
    }
}

#[cfg(test)]
#[path = "../../../exercises/01-block-on/src/tests/mod.rs"]
mod tests;
