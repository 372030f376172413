//! Breaks clause 10: No lost wake-up.
//! Caught by: thousands_of_wakes_between_two_threads_all_arrive
//!
//! The parker is right, and `block_on` doesn't use it: it came first, with a flag
//! and a condition variable of std, and it looks at the flag before it locks.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};

pub use parker::{Parker, Unparker};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let bell = Arc::new(Bell::default());
    let rung = bell.clone();
    super::poll_and_park(future, || bell.wait(), move || rung.ring())
}

#[derive(Default)]
struct Bell {
    is_rung: AtomicBool,
    lock: Mutex<()>,
    rings: Condvar,
}

impl Bell {
    fn wait(&self) {
        while !self.is_rung.swap(false, SeqCst) {
            drop(self.rings.wait(self.lock.lock().unwrap()));
        }
    }

    fn ring(&self) {
        self.is_rung.store(true, SeqCst);
        drop(self.lock.lock().unwrap());
        self.rings.notify_one();
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/02-parker/src/tests/mod.rs"]
mod tests;
