//! What ends a wait in the driver: a token, as a parker has it, and a call of
//! the system only if a thread waits.

use std::io;
use std::sync::atomic::{
    AtomicU8,
    Ordering::{AcqRel, Acquire, Relaxed},
};

/// No token, and no thread waits.
// --> WAITING (`begin_wait`), NOTIFIED (`unpark`)
const EMPTY: u8 = 0;

/// No token. A thread waits, or is about to.
// --> NOTIFIED (`unpark`), EMPTY (`end_wait`)
const WAITING: u8 = 1;

/// There's a token.
// --> EMPTY (`end_wait`)
const NOTIFIED: u8 = 2;

/// *Memory ordering.* What happens before `unpark` happens before the return of
/// the `end_wait` that takes the token: both are read-modify-writes of one
/// location, so each `unpark` continues the release sequences of those before.
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

    /// Leaves a token, and ends the wait that's under way.
    pub fn unpark(&self) {
        // AcqRel: pairs with the one in `end_wait`; publishes what this thread
        // wrote.
        if self.state.swap(NOTIFIED, AcqRel) == WAITING {
            self.interrupt();
        }
    }

    /// Ends the wait that's under way, and leaves no token for another one. The
    /// caller has unlocked a mutex that a waiting thread locks after its
    /// `begin_wait`.
    pub fn unpark_if_waiting(&self) {
        // Relaxed: if the waiting thread has locked the mutex before us, that
        // shows its WAITING, or what came after. If it comes after us, it sees
        // what we did there.
        if self.state.load(Relaxed) == WAITING {
            self.interrupt();
        }
    }

    /// Returns `false` if there's a token, and the thread must not wait.
    pub fn begin_wait(&self) -> bool {
        // AcqRel: the token, if it fails, is taken by `end_wait`. What comes
        // after stays after it.
        let begun =
            self.state.compare_exchange(EMPTY, WAITING, AcqRel, Acquire);
        begun.is_ok()
    }

    /// The thread doesn't wait any more. Takes the token.
    pub fn end_wait(&self) {
        // AcqRel: pairs with the one in `unpark`.
        self.state.swap(EMPTY, AcqRel);
    }

    fn interrupt(&self) {
        self.waker.wake().expect("the system can wake its poller");
    }
}
