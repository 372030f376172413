//! Breaks clause 10: Idle.
//! Caught by: block_on_sleeps_while_it_waits
//!
//! Waits for the wake-up, but at most five milliseconds at a time. The safety
//! net hides lost wake-ups, and a thousand such threads keep a machine awake.

use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Wake};
use std::time::Duration;

const SAFETY_NET: Duration = Duration::from_millis(5);

pub use raw_waker::waker;

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let park = Arc::new(Park::default());
    let waker = waker(park.clone());
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        park.wait();
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
        let (mut is_woken, _) = self
            .woken
            .wait_timeout_while(is_woken, SAFETY_NET, |is_woken| !*is_woken)
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
