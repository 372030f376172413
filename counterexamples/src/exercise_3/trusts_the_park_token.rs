//! Breaks clause 11: No lost wake-up.
//! Caught by: a_future_that_parks_does_not_take_the_wake_up
//! Also fails: a_future_that_calls_block_on_does_not_take_the_wake_up
//!
//! Sleeps by `thread::park` and keeps no flag beside it, as solution 1 does.
//! The token belongs to the thread; a future that parks takes it.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};

pub use raw_waker::waker;

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = waker(Arc::new(ThreadWaker(thread::current())));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
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

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/03-raw-waker/src/tests/mod.rs"]
mod tests;
