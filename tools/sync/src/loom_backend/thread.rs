//! loom's threads, with a `park` of our own. loom 0.7.2 lets an `unpark` also
//! end the sleep of a thread that waits for a lock or joins another thread,
//! which std's does not.

pub use loom::thread::{Builder, JoinHandle, LocalKey, panicking, spawn, yield_now};

use loom::sync::{Arc, Condvar, Mutex};
use std::sync::PoisonError;
use std::time::Duration;

/// A handle to a thread.
#[derive(Clone, Debug)]
pub struct Thread(Arc<Token>);

#[derive(Debug, Default)]
struct Token {
    is_there: Mutex<bool>,
    left: Condvar,
}

loom::thread_local! {
    static CURRENT: Thread = Thread(Arc::default());
}

/// Returns a handle to the calling thread.
pub fn current() -> Thread {
    CURRENT.with(Thread::clone)
}

impl Thread {
    /// Leaves the thread's token, and wakes the thread if it is parked.
    pub fn unpark(&self) {
        let Token { is_there, left } = &*self.0;
        *is_there.lock().unwrap_or_else(PoisonError::into_inner) = true;
        left.notify_one();
    }
}

/// Waits for the token, and takes it.
pub fn park() {
    let Thread(token) = current();
    let mut is_there = token
        .is_there
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    while !*is_there {
        is_there = token
            .left
            .wait(is_there)
            .unwrap_or_else(PoisonError::into_inner);
    }
    *is_there = false;
}

/// Like [`park`]: in a model no time-out elapses.
pub fn park_timeout(_limit: Duration) {
    park();
}

#[cfg(test)]
mod tests {
    use super::{current, park, spawn};

    #[test]
    fn an_unpark_counts_in_every_order() {
        crate::model(|| {
            let thread = current();
            let partner = spawn(move || thread.unpark());
            park();
            partner.join().expect("unparking does not panic");
        });
    }

    #[test]
    fn an_unpark_does_not_end_a_join() {
        crate::model(|| {
            let thread = current();
            let partner = spawn(move || {
                thread.unpark();
                loom::thread::yield_now();
            });
            partner.join().expect("unparking does not panic");
        });
    }
}
