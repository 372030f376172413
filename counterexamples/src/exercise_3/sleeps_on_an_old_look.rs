//! Breaks clause 11: No lost wake-up.
//! Caught by: thousands_of_wakes_between_two_threads_all_arrive
//! Also fails: block_on_sleeps_while_it_waits
//!
//! Lets others run once more before it sleeps: perhaps the wake-up comes just
//! then, and a sleep is saved. It does come just then, and nobody looks again.
//! `wake` finds no sleeper to rouse, and the thread goes to sleep.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Wake};
use std::thread;

use Ordering::{Acquire, Release};

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

/// What the thread of [`block_on`] sleeps on.
#[derive(Default)]
struct Park {
    is_woken: AtomicBool,
    lock: Mutex<()>,
    woken: Condvar,
}

impl Park {
    /// Sleeps until woken, and takes the wake-up.
    fn wait(&self) {
        while !self.is_woken.swap(false, Acquire) {
            // To sleep and to be roused is dear, and somebody may be about to
            // wake.
            thread::yield_now();
            let guard =
                self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            drop(self.woken.wait(guard));
        }
    }
}

impl Wake for Park {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Release);
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
        self.woken.notify_one();
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/03-raw-waker/src/tests/mod.rs"]
mod tests;
