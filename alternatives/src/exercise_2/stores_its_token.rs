//! Another correct design: an atomic flag of its own and `thread::park`, where
//! `unpark` leaves the token by a plain store. A store doesn't publish what the `unpark` published
//! whose token it replaces. Here the mutex does that, because each `unpark`
//! stores while it holds the mutex.

use std::cell::Cell;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

use primitives::atomic::{AtomicBool, Ordering};
use primitives::thread::{self, Thread};
use primitives::{Arc, Mutex};

use Ordering::SeqCst;

use super::time_left;

/// Lets a thread sleep until another thread leaves it a token.
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
        self.sleep(None);
    }

    /// Sleeps until there is a token or `timeout` has passed. Returns `true`
    /// if it has taken a token.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        self.sleep(Instant::now().checked_add(timeout))
    }

    fn sleep(&self, deadline: Option<Instant>) -> bool {
        // The mutex orders this and `unpark`: either `unpark` sees the thread,
        // or the thread sees the token.
        *self.shared.sleeper.lock().unwrap() = Some(thread::current());
        // SeqCst, although Acquire is enough: pairs with the store in `unpark`.
        while !self.shared.has_token.swap(false, SeqCst) {
            match time_left(deadline) {
                Duration::ZERO => return false,
                Duration::MAX => thread::park(),
                left => thread::park_timeout(left),
            }
        }
        true
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
        let sleeper = self.shared.sleeper.lock().unwrap();
        // SeqCst, although Release is enough: pairs with the swap in `sleep`.
        self.shared.has_token.store(true, SeqCst);
        if let Some(sleeper) = &*sleeper {
            sleeper.unpark();
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
