//! Breaks clause 3: No lost wake-up.
//! Caught by: thousands_of_wakes_between_two_threads_all_arrive
//! Also fails: a_wake_up_counts_even_if_stores_arrive_late
//! Also fails: a_second_wake_up_counts_even_if_stores_arrive_late
//!
//! The flag is atomic, so that a wake-up takes no lock. As a result, it may
//! come after the sleeper's last look and before its wait. The sleeper holds
//! the mutex from one to the other, but that doesn't keep the waker out.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
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
        let mut held =
            signal.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while !signal.is_woken.swap(false, SeqCst) {
            held = signal
                .woken
                .wait(held)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[derive(Default)]
struct Signal {
    is_woken: AtomicBool,
    lock: Mutex<()>,
    woken: Condvar,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, SeqCst);
        self.woken.notify_one();
    }
}

#[cfg(test)]
#[path = "../../../exercises/01-block-on/src/tests/mod.rs"]
mod tests;
