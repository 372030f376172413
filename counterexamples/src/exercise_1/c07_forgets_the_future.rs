//! Breaks clause 7: One drop.
//! Caught by: the_future_is_dropped_once_before_block_on_returns
//! Also fails: a_panic_of_the_future_reaches_the_caller
//!
//! Leaks the future to pin it: what is never freed never moves. All that the
//! future holds stays held, locks and connections included.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let future: &mut F = Box::leak(Box::new(future));
    // SAFETY: the box is never freed, so the future neither moves nor ends.
    let mut future = unsafe { Pin::new_unchecked(future) };
    let waker = Waker::from(Arc::new(ThreadWaker(thread::current())));
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

#[cfg(test)]
#[path = "../../../exercises/01-block-on/src/tests/mod.rs"]
mod tests;
