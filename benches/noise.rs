//! A machine that others use, too.

use std::hint;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

/// So many threads that never stop, for each processor.
const THREADS_EACH: usize = 4;

/// Runs `work` beside threads that use all processors.
pub fn beside<R>(work: impl FnOnce() -> R) -> R {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    // Relaxed: it publishes nothing.
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..THREADS_EACH * processors {
            scope.spawn(|| {
                while !is_over.load(Relaxed) {
                    hint::spin_loop();
                }
            });
        }
        let result = work();
        is_over.store(true, Relaxed);
        result
    })
}
