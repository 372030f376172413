//! Breaks clause 6: Pinned.
//! Caught by: the_future_does_not_move_between_polls
//!
//! Keeps the future in an `Option` and takes it out for each poll. It's at the
//! same address in every poll, but at another address in between. What other
//! threads write to it meanwhile is lost.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(ThreadWaker(thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut waiting = Some(future);
    while let Some(mut polled) = waiting.take() {
        // SAFETY: wrong, and this is the bug: the future moves after this poll.
        let pinned = unsafe { Pin::new_unchecked(&mut polled) };
        if let Poll::Ready(output) = pinned.poll(&mut cx) {
            return output;
        }
        waiting = Some(polled);
        thread::park();
    }
    unreachable!("the future was put back")
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
