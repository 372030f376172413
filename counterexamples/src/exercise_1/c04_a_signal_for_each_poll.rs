//! Breaks clause 4: Any thread.
//! Caught by: a_waker_of_an_earlier_poll_wakes
//! Also fails: a_wake_up_counts_even_if_stores_arrive_late
//! Also fails: a_second_wake_up_counts_even_if_stores_arrive_late
//!
//! Each poll gets a waker with a flag of its own, so that nothing is left over
//! from an earlier poll. A waker from an earlier poll then sets a flag that no
//! loop looks at.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        let signal = Arc::new(Signal {
            is_woken: AtomicBool::new(false),
            thread: thread::current(),
        });
        let waker = signal.clone().into();
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        if let Poll::Ready(output) = polled {
            return output;
        }
        while !signal.is_woken.load(SeqCst) {
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
        self.is_woken.store(true, SeqCst);
        self.thread.unpark();
    }
}

#[cfg(test)]
#[path = "../../../exercises/01-block-on/src/tests/mod.rs"]
mod tests;
