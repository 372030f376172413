//! Breaks clause 3: No lost wake-up.
//! Caught by: several_wakes_in_one_poll_are_no_trouble
//! Also fails: any_number_of_wakes_in_one_poll_count
//! Also fails: a_wake_up_counts_if_the_poll_has_slept_since_the_one_before
//!
//! A channel with room for one message, since only one wake-up has to be kept.
//! However, `send` waits for room, so the second wake-up of a poll waits for
//! the thread that polls, which is itself.

use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let (wake_up, wake_ups) = mpsc::sync_channel(1);
    let waker = Waker::from(Arc::new(SendWakeUp(wake_up)));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        wake_ups.recv().expect("`waker` keeps the channel open");
    }
}

struct SendWakeUp(mpsc::SyncSender<()>);

impl Wake for SendWakeUp {
    fn wake(self: Arc<Self>) {
        // Fails after `block_on` has returned, when there's no call left to
        // wake.
        let _ = self.0.send(());
    }
}

#[cfg(test)]
#[path = "../../../exercises/01-block-on/src/tests/mod.rs"]
mod tests;
