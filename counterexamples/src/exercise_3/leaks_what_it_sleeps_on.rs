//! Breaks clause 12: Wakers live on.
//! Caught by: calls_of_block_on_leave_no_memory_behind
//! Also fails: a_call_whose_future_panics_leaves_no_memory_behind
//!
//! A waker may live for ever, so what it wakes must, too: it is leaked. Each
//! call leaves a few bytes behind, and a runtime makes many calls.

use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Wake};

pub use raw_waker::waker;

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let park: &Park = Box::leak(Box::default());
    let waker = waker(Arc::new(WakesPark(park)));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        park.wait();
    }
}

/// What the thread of [`block_on`] sleeps on.
#[derive(Default)]
struct Park {
    is_woken: Mutex<bool>,
    woken: Condvar,
}

impl Park {
    /// Sleeps until woken, and takes the wake-up.
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

struct WakesPark(&'static Park);

impl Wake for WakesPark {
    fn wake(self: Arc<Self>) {
        let Self(park) = &*self;
        *park.is_woken.lock().unwrap_or_else(PoisonError::into_inner) = true;
        park.woken.notify_one();
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/03-raw-waker/src/tests/mod.rs"]
mod tests;
