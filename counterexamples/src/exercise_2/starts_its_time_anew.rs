//! Breaks clause 5: Time-outs.
//! Caught by: wake_ups_without_a_token_do_not_prolong_a_timed_park
//!
//! Each further sleep gets the whole time again. As long as something wakes the
//! thread often enough, and anybody may unpark a thread, the time is never up.

use std::cell::Cell;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

use sync::atomic::{AtomicBool, Ordering};
use sync::thread::{self, Thread};
use sync::{Arc, Mutex};

use Ordering::{Acquire, Release};

/// Lets a thread sleep until somebody leaves it a token.
#[derive(Default)]
pub struct Parker {
    shared: Arc<Shared>,
    _not_sync: PhantomData<Cell<()>>,
}

/// Unparks the thread that is parked in the [`Parker`] that it came from.
#[derive(Clone)]
pub struct Unparker {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    has_token: AtomicBool,
    sleeper: Mutex<Option<Thread>>,
}

impl Parker {
    /// Makes a parker without a token.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sleeps until there is a token, and takes it.
    pub fn park(&self) {
        self.shared.announce_sleeper();
        while !self.shared.take_token() {
            thread::park();
        }
    }

    /// Sleeps until there is a token or `timeout` has passed. Returns `true`
    /// if it has taken a token.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        self.shared.announce_sleeper();
        loop {
            let start = Instant::now();
            if self.shared.take_token() {
                return true;
            }
            thread::park_timeout(timeout);
            if start.elapsed() >= timeout {
                return self.shared.take_token();
            }
        }
    }

    /// Makes an unparker of this parker.
    pub fn unparker(&self) -> Unparker {
        Unparker {
            shared: self.shared.clone(),
        }
    }
}

impl Unparker {
    /// Leaves a token, and wakes the thread if it is parked.
    pub fn unpark(&self) {
        self.shared.has_token.swap(true, Release);
        if let Some(sleeper) = &*self.shared.sleeper.lock().unwrap() {
            sleeper.unpark();
        }
    }
}

impl Shared {
    fn take_token(&self) -> bool {
        self.has_token.swap(false, Acquire)
    }

    /// Says whom to unpark.
    fn announce_sleeper(&self) {
        *self.sleeper.lock().unwrap() = Some(thread::current());
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
