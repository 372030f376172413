//! Another correct design: each wake-up is a message in a channel. Wake-ups are
//! counted rather than merged, so each of them causes a poll.

use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let (wake_up, wake_ups) = mpsc::channel();
    let waker = Waker::from(Arc::new(SendWakeUp(wake_up)));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        wake_ups.recv().expect("`waker` keeps the channel open");
    }
}

struct SendWakeUp(mpsc::Sender<()>);

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
