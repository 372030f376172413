//! Code that hangs, for the kit's own tests: to the kit it is what a reader wrote.

use std::sync::Mutex;
use std::thread::{self, JoinHandle};

/// Calls itself with its lock held.
pub(crate) fn lock_twice(lock: &Mutex<u32>, depth: u32) {
    let guard = lock.lock();
    if depth > 0 {
        lock_twice(lock, depth - 1);
    }
    drop(guard);
}

/// Waits for its thread, which nothing ends.
pub(crate) struct Joins(Option<JoinHandle<()>>);

impl Joins {
    pub fn new() -> Self {
        let worker = thread::Builder::new().name("worker".to_owned());
        Self(worker.spawn(work).ok())
    }
}

impl Drop for Joins {
    fn drop(&mut self) {
        let _ended = self.0.take().map(JoinHandle::join);
    }
}

fn work() {
    loop {
        thread::park();
    }
}

/// Makes no progress.
pub(crate) fn spin() {
    while std::hint::black_box(true) {
        std::hint::spin_loop();
    }
}

/// Panics in std, which doesn't say who called it.
pub(crate) fn overflow_the_clock() {
    let far = std::time::Instant::now() + std::time::Duration::MAX;
    std::hint::black_box(far);
}
