//! Code that hangs, for the kit's own tests, in the place of the reader's code.

use std::sync::Mutex;
use std::thread::{self, JoinHandle};

/// Calls itself while holding its lock.
pub(crate) fn lock_twice(lock: &Mutex<u32>, depth: u32) {
    let guard = lock.lock();
    if depth > 0 {
        lock_twice(lock, depth - 1);
    }
    drop(guard);
}

/// Waits for its thread, which never ends.
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

/// Panics in std, which doesn't say what called it.
pub(crate) fn overflow_the_clock() {
    let far = std::time::Instant::now() + std::time::Duration::MAX;
    std::hint::black_box(far);
}
