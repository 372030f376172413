//! [`std::thread`], with a `park` that returns spuriously while there is chaos.

pub use std::thread::{
    Builder, JoinHandle, LocalKey, Result, Thread, ThreadId, available_parallelism, current,
    panicking, sleep, spawn, yield_now,
};

#[cfg(false)] // not in `primitives`: loom's threads borrow nothing. Use `spawn` and an `Arc`
pub fn scope() {}

use std::time::{Duration, Instant};

use super::{count_read_modify_write, delay, hold, late, strikes};

/// Waits for the token, or until a spurious wake-up.
pub fn park() {
    delay();
    count_read_modify_write();
    if !strikes() {
        std::thread::park();
    }
}

/// Waits for the token for at most `limit`, or until a spurious wake-up.
pub fn park_timeout(limit: Duration) {
    delay();
    count_read_modify_write();
    if strikes() {
        return;
    }
    match late::end_of(limit) {
        Some(early) => std::thread::sleep(early),
        None => {
            let start = Instant::now();
            std::thread::park_timeout(limit);
            if start.elapsed() >= limit
                && let Some(held) = hold::at_timeout()
            {
                while held.lasts() {
                    std::thread::sleep(hold::TICK);
                }
            }
        }
    }
}
