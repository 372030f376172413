//! Breaks clause 3: No lost wake-up.
//! Caught by: thousands_of_wakes_between_two_threads_all_arrive
//! Also fails: a_wake_up_counts_even_if_stores_arrive_late
//!
//! Avoids unparking a thread that isn't parked: `wake` first checks whether it
//! is. The thread announces its park only after it has looked at the flag, so a
//! wake-up that comes between the two finds it awake and leaves no token.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let signal = Arc::new(Signal {
        is_woken: AtomicBool::new(false),
        is_parked: AtomicBool::new(false),
        thread: thread::current(),
    });
    let waker = Waker::from(signal.clone());
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        while !signal.is_woken.swap(false, SeqCst) {
            signal.is_parked.store(true, SeqCst);
            thread::park();
            signal.is_parked.store(false, SeqCst);
        }
    }
}

struct Signal {
    is_woken: AtomicBool,
    is_parked: AtomicBool,
    thread: Thread,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, SeqCst);
        if self.is_parked.load(SeqCst) {
            self.thread.unpark();
        }
    }
}

#[cfg(test)]
#[path = "../../../exercises/01-block-on/src/tests/mod.rs"]
mod tests;
