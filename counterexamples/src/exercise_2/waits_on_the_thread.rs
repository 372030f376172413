//! Breaks clause 10: No lost wake-up.
//! Caught by: a_wake_up_survives_a_future_that_parks
//! Also fails: the_future_is_polled_only_when_woken
//! Also fails: a_wake_up_survives_a_future_that_calls_block_on
//!
//! The parker is right, and `block_on` does not use it: it sleeps by
//! `thread::park`, as in the chapter before. The future, or a lock inside it,
//! can take the token.

use std::pin::pin;
use std::task::{Context, Poll, Wake, Waker};

use sync::thread::{self, Thread};

pub use parker::{Parker, Unparker};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let thread = ThreadWaker(thread::current());
    let waker = Waker::from(std::sync::Arc::new(thread));
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
    fn wake(self: std::sync::Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/02-parker/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/02-parker/src/tests/mod.rs"]
mod tests;
