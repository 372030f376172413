//! Breaks clause 4: Any thread.
//! Caught by: two_waiting_threads_do_not_take_each_others_wake_ups
//!
//! Avoids the allocation by keeping the signal in a `static`. That works for
//! one `block_on` at a time. With two of them, the first to look takes the
//! wake-up.

use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

static IS_WOKEN: Mutex<bool> = Mutex::new(false);
static WOKEN: Condvar = Condvar::new();

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(SharedSignal));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        let mut is_woken =
            IS_WOKEN.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_woken {
            is_woken =
                WOKEN.wait(is_woken).unwrap_or_else(PoisonError::into_inner);
        }
        *is_woken = false;
    }
}

struct SharedSignal;

impl Wake for SharedSignal {
    fn wake(self: Arc<Self>) {
        *IS_WOKEN.lock().unwrap_or_else(PoisonError::into_inner) = true;
        WOKEN.notify_one();
    }
}

#[cfg(test)]
#[path = "../../../exercises/01-block-on/src/tests/mod.rs"]
mod tests;
