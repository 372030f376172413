//! Breaks clause 11: No lost wake-up.
//! Caught by: a_wake_during_poll_is_not_lost
//! Also fails: a_future_that_calls_block_on_does_not_take_the_wake_up
//! Also fails: a_future_that_parks_does_not_take_the_wake_up
//! Also fails: a_waker_may_be_used_after_block_on_returned
//! Also fails: block_on_polls_until_the_future_is_ready
//! Also fails: block_on_sleeps_while_it_waits
//! Also fails: thousands_of_wakes_between_two_threads_all_arrive
//!
//! Each wake-up is a message. Empties the channel before it waits, so that a
//! hundred old messages do not cause a hundred polls. One of them may have
//! come during the poll, and is not old.

use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake};

pub use raw_waker::waker;

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let (wake_up, wake_ups) = mpsc::channel();
    let waker = waker(Arc::new(SendWakeUp(wake_up)));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        wake_ups.try_iter().for_each(drop);
        wake_ups.recv().expect("`waker` keeps the channel open");
    }
}

struct SendWakeUp(mpsc::Sender<()>);

impl Wake for SendWakeUp {
    fn wake(self: Arc<Self>) {
        // Fails after `block_on` has returned, when nobody is left to wake.
        let _ = self.0.send(());
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/03-raw-waker/src/tests/mod.rs"]
mod tests;
