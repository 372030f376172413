//! Another correct design: an atomic flag of its own, with `thread::park` only
//! for the sleep. It polls only when it was woken.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use Ordering::{Acquire, Release};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let signal = Arc::new(Signal {
        is_woken: AtomicBool::new(false),
        thread: thread::current(),
    });
    let waker = Waker::from(signal.clone());
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        // Acquire: pairs with the Release in `wake`; the poll sees what the waking thread wrote.
        while !signal.is_woken.swap(false, Acquire) {
            thread::park();
        }
    }
}

struct Signal {
    is_woken: AtomicBool,
    thread: Thread,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        // Release: pairs with the Acquire in `block_on`. A swap rather than a
        // store, so that earlier wake-ups stay visible too.
        self.is_woken.swap(true, Release);
        self.thread.unpark();
    }
}

#[cfg(test)]
#[path = "../../../exercises/01-block-on/src/tests/mod.rs"]
mod tests;
