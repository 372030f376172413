//! Breaks clause 1: Prompt.
//! Caught by: a_ready_future_needs_no_wake_up
//! Also fails: a_waker_may_be_used_after_block_on_returned
//! Also fails: the_future_gets_a_waker_that_wakes
//! Also fails: a_waker_still_wakes_after_a_call_within_the_poll
//!
//! The first poll is there to leave the waker with the future, so its result is
//! thrown away. A future that is ready at that poll has no reason to call its
//! waker, and the thread waits for a wake-up that never comes.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(ThreadWaker(thread::current())));
    let mut cx = Context::from_waker(&waker);
    // Leaves the waker with the future's source of wake-ups.
    let _ = future.as_mut().poll(&mut cx);
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
