//! Breaks clause 3: No lost wake-up.
//! Caught by: thousands_of_wakes_between_two_threads_all_arrive
//! Also fails: a_wake_up_counts_even_if_stores_arrive_late
//! Also fails: a_second_wake_up_counts_even_if_stores_arrive_late
//!
//! Looks at the flag under the mutex, releases it, and locks it again to wait.
//! A wake-up that comes in between sets the flag and notifies a condition
//! variable on which no thread waits yet. Two short critical sections look
//! tidier than one that spans the wait.

use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let signal = Arc::new(Signal::default());
    let waker = Waker::from(signal.clone());
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        while !signal.take() {
            drop(signal.woken.wait(signal.lock()));
        }
    }
}

#[derive(Default)]
struct Signal {
    is_woken: Mutex<bool>,
    woken: Condvar,
}

impl Signal {
    fn take(&self) -> bool {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_woken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        *self.lock() = true;
        self.woken.notify_one();
    }
}

#[cfg(test)]
#[path = "../../../exercises/01-block-on/src/tests/mod.rs"]
mod tests;
