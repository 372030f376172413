//! Breaks clause 5: Bounded polls.
//! Caught by: a_wake_up_causes_one_poll
//! Also fails: a_wake_up_within_a_poll_does_not_end_the_next_sleep
//!
//! Polls again before it sleeps, in case a wake-up came meanwhile. The park
//! token already remembers such a wake-up, so the second poll only doubles the
//! work.

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
        for _look in ["first", "to be sure"] {
            if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
                return output;
            }
        }
        thread::park();
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
