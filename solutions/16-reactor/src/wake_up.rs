//! Ends a wait in the driver. There's a token, like a parker's, and a system
//! call only if a thread waits.

use std::io;

use primitives::atomic::{
    AtomicU8,
    Ordering::{Acquire, Relaxed, Release},
};

/// There's no token, and no thread waits.
// --> WAITING (`begin_wait`), NOTIFIED (`unpark`)
const EMPTY: u8 = 0;

/// There's no token. A thread waits, or is about to wait.
// --> NOTIFIED (`unpark`), EMPTY (`end_wait`)
const WAITING: u8 = 1;

/// There's a token.
// --> EMPTY (`end_wait`)
const NOTIFIED: u8 = 2;

/// *Memory ordering.* Everything before an `unpark` happens before the return
/// of the `end_wait` that takes its token. Both are RMWs of one location, so
/// each `unpark` continues the release sequences of earlier ones.
pub struct WakeUp {
    state: AtomicU8,
    waker: mio::Waker,
}

impl WakeUp {
    pub fn new(registry: &mio::Registry, key: usize) -> io::Result<Self> {
        Ok(Self {
            state: AtomicU8::new(EMPTY),
            waker: mio::Waker::new(registry, mio::Token(key))?,
        })
    }

    /// Leaves a token, which ends the current wait or the next one.
    pub fn unpark(&self) {
        // Release: pairs with the swap in `end_wait`; publishes what this thread
        // wrote.
        if self.state.swap(NOTIFIED, Release) == WAITING {
            self.interrupt();
        }
    }

    /// Ends the current wait, and leaves no token for a later one. The caller
    /// must have unlocked a mutex before, the same one that the waiting thread
    /// locks after its `begin_wait`.
    pub fn unpark_if_waiting(&self) {
        // Relaxed: the mutex orders it. If the waiting thread locked the mutex
        // before we did, this load sees its WAITING or a later state. If the
        // waiting thread locks the mutex after us, it sees what we wrote under
        // the lock.
        if self.state.load(Relaxed) == WAITING {
            self.interrupt();
        }
    }

    /// Returns `false` if there's a token. The thread must not wait then. In
    /// both cases it must call [`end_wait`](Self::end_wait) afterward.
    pub fn begin_wait(&self) -> bool {
        // Relaxed: publishes nothing. An `unpark` that comes later in this
        // location's order reads WAITING, and `unpark_if_waiting` relies on the
        // mutex, which this thread locks afterward.
        // Relaxed: a token that's found stays until `end_wait` takes it, and
        // what came with it.
        let begun = self
            .state
            .compare_exchange(EMPTY, WAITING, Relaxed, Relaxed);
        begun.is_ok()
    }

    /// Ends the wait, and takes the token if there is one.
    pub fn end_wait(&self) {
        // Acquire: pairs with the swap in `unpark`.
        self.state.swap(EMPTY, Acquire);
    }

    fn interrupt(&self) {
        self.waker.wake().expect("the system can wake its poller");
    }
}
