//! Breaks clause 6: Pinned.
//! Caught by: the_future_does_not_move_between_polls
//!
//! Passes the future from one poll to the next by value, like any other state.
//! `unsafe` silences the compiler, which had a point.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(ThreadWaker(thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut state = step(future, &mut cx);
    loop {
        match state {
            Step::Done(output) => return output,
            Step::Waiting(future) => {
                thread::park();
                state = step(*future, &mut cx);
            }
        }
    }
}

enum Step<F: Future> {
    Done(F::Output),
    Waiting(Box<F>),
}

fn step<F: Future>(mut future: F, cx: &mut Context<'_>) -> Step<F> {
    // SAFETY: wrong, and this is the bug: the future moves after this call.
    let pinned = unsafe { Pin::new_unchecked(&mut future) };
    match pinned.poll(cx) {
        Poll::Ready(output) => Step::Done(output),
        Poll::Pending => Step::Waiting(Box::new(future)),
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
