//! Breaks clause 9: Prompt.
//! Caught by: block_on_polls_until_the_future_is_ready
//! Also fails: a_wake_during_poll_is_not_lost
//! Also fails: a_waker_may_be_used_after_block_on_returned
//!
//! A future is woken when it is ready, is it not? So two polls are enough. In
//! fact a wake-up says only that polling makes sense again.

use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Wake};

pub use raw_waker::waker;

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let park = Arc::new(Park::default());
    let waker = waker(park.clone());
    let mut cx = Context::from_waker(&waker);
    if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
        return output;
    }
    park.wait();
    match future.as_mut().poll(&mut cx) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("it was woken, so it is ready"),
    }
}

#[derive(Default)]
struct Park {
    is_woken: Mutex<bool>,
    woken: Condvar,
}

impl Park {
    fn wait(&self) {
        let is_woken =
            self.is_woken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_woken = self
            .woken
            .wait_while(is_woken, |is_woken| !*is_woken)
            .unwrap_or_else(PoisonError::into_inner);
        *is_woken = false;
    }
}

impl Wake for Park {
    fn wake(self: Arc<Self>) {
        *self.is_woken.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.woken.notify_one();
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/03-raw-waker/src/tests/mod.rs"]
mod tests;
