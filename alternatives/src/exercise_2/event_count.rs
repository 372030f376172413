//! Another correct design: an event count. One word holds the number of unparks
//! so far and, in its lowest bit, whether the thread sleeps. `unpark` reads
//! that bit with the same addition that leaves the token, and locks only if
//! it's set.

use std::cell::Cell;
use std::time::{Duration, Instant};

use primitives::atomic::{AtomicU64, Ordering};
use primitives::{Arc, Condvar, Mutex};

use Ordering::{Acquire, Relaxed, Release};

use super::time_left;

/// The thread sleeps, or is about to.
const ASLEEP: u64 = 1;
/// One unpark.
const ONE: u64 = 2;

/// Lets a thread sleep until another thread leaves it a token.
#[derive(Default)]
pub struct Parker {
    shared: Arc<Shared>,
    /// The count when a token was last taken.
    seen: Cell<u64>,
}

/// Unparks the thread that is parked in the [`Parker`] that it came from.
#[derive(Clone)]
pub struct Unparker {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    events: AtomicU64,
    lock: Mutex<()>,
    woken: Condvar,
}

impl Parker {
    /// Makes a parker without a token.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sleeps until there is a token, and takes it.
    pub fn park(&self) {
        let took = self.sleep(None);
        debug_assert!(took, "without a deadline only a token ends the sleep");
    }

    /// Sleeps until there is a token or `timeout` has passed. Returns `true`
    /// if it has taken a token.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        self.sleep(Instant::now().checked_add(timeout))
    }

    fn sleep(&self, deadline: Option<Instant>) -> bool {
        if self.take_token() {
            return true;
        }
        let Shared {
            events,
            lock,
            woken,
        } = &*self.shared;
        let mut guard = lock.lock().unwrap();
        // Relaxed: publishes nothing. Every addition from now on sees the bit,
        // and its `unpark` locks before it notifies.
        events.fetch_or(ASLEEP, Relaxed);
        let took = loop {
            if self.take_token() {
                break true;
            }
            let left = time_left(deadline);
            if left.is_zero() {
                break false;
            }
            guard = match deadline {
                None => woken.wait(guard).unwrap(),
                Some(_) => woken.wait_timeout(guard, left).unwrap().0,
            };
        };
        // Relaxed: publishes nothing, and a token that comes now is counted
        // anyway.
        events.fetch_and(!ASLEEP, Relaxed);
        took
    }

    fn take_token(&self) -> bool {
        // Acquire: pairs with the Release in `unpark`. All changes are read-modify-writes, so the count that is read
        // carries what every unpark up to it has published.
        let count = self.shared.events.load(Acquire) & !ASLEEP;
        self.seen.replace(count) != count
    }

    /// Creates an unparker of this parker.
    pub fn unparker(&self) -> Unparker {
        Unparker {
            shared: self.shared.clone(),
        }
    }
}

impl Unparker {
    /// Leaves a token, and wakes the thread if it is parked.
    pub fn unpark(&self) {
        // Release: pairs with the Acquire in `take_token`.
        if self.shared.events.fetch_add(ONE, Release) & ASLEEP != 0 {
            drop(self.shared.lock.lock().unwrap());
            self.shared.woken.notify_one();
        }
    }
}

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let parker = Parker::new();
    let unparker = parker.unparker();
    super::poll_and_park(future, || parker.park(), move || unparker.unpark())
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/02-parker/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/02-parker/src/tests/mod.rs"]
mod tests;
