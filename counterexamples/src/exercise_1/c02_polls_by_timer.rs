//! Breaks clause 2: Idle.
//! Caught by: waiting_does_not_poll_by_a_timer
//! Also fails: two_waiting_threads_do_not_take_each_others_wake_ups
//!
//! Sleeps, but checks every few milliseconds whether a wake-up was missed. The
//! safety net hides every lost wake-up, and a thousand such threads keep a
//! machine awake.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

const SAFETY_NET: Duration = Duration::from_millis(5);

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(ThreadWaker(thread::current())));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        thread::park_timeout(SAFETY_NET);
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
