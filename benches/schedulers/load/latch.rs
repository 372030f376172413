//! Waits, with a limit, until so many tasks have ended.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// Opens when as many as it was made for have ended.
pub struct Latch {
    left: AtomicUsize,
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Latch {
    /// Makes a latch that waits for so many.
    pub fn new(count: usize) -> Self {
        Self {
            left: AtomicUsize::new(count),
            is_open: Mutex::new(count == 0),
            opened: Condvar::new(),
        }
    }

    /// Counts one that has ended.
    pub fn one_done(&self) {
        // Relaxed: the mutex publishes what has to be.
        if self.left.fetch_sub(1, Relaxed) == 1 {
            *self.is_open.lock().expect("no thread panics with it") = true;
            self.opened.notify_all();
        }
    }

    /// Blocks this thread. Returns `false` if the latch isn't open when the time
    /// is over.
    pub fn wait(&self, limit: Duration) -> bool {
        let is_open = self.is_open.lock().expect("no thread panics with it");
        let waited = self
            .opened
            .wait_timeout_while(is_open, limit, |is_open| !*is_open);
        *waited.expect("no thread panics with it").0
    }
}
