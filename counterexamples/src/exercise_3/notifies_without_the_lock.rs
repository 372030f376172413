//! Breaks clause 11: No lost wake-up.
//! Caught by: models::a_wake_up_reaches_block_on_in_every_order
//!
//! The flag is atomic, so `wake` needs no lock to set it. The lock was there for
//! something else: a thread that has looked at the flag, and does not sleep yet,
//! holds it. It misses the notification.

use std::pin::pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Wake};

use sync::atomic::{AtomicBool, Ordering};
use sync::{Condvar, Mutex};

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
        let mut guard =
            self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.is_woken.swap(false, Acquire) {
            let woken = self.woken.wait(guard);
            guard = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Wake for Park {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Release);
        self.woken.notify_one();
    }
}

// No tests: on real threads it is a matter of luck what they see.
#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/03-raw-waker/src/models.rs"]
mod models;
