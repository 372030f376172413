//! Another correct design: looks a few times before it sleeps, since a token
//! that comes soon saves two system calls: the one to sleep and the one to
//! wake.

use std::cell::Cell;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

use primitives::atomic::{AtomicBool, Ordering};
use primitives::{Arc, Condvar, Mutex, hint};

use Ordering::{Acquire, Release};

use super::time_left;

/// How often it looks before it sleeps.
const LOOKS: u32 = if cfg!(feature = "loom") { 2 } else { 100 };

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
        self.sleep(None);
    }

    /// Sleeps until there is a token or `timeout` has passed. Returns `true`
    /// if it has taken a token.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        self.sleep(Instant::now().checked_add(timeout))
    }

    fn sleep(&self, deadline: Option<Instant>) -> bool {
        for _ in 0..LOOKS {
            if self.take_token() {
                return true;
            }
            hint::spin_loop();
        }
        let Shared { lock, woken, .. } = &*self.shared;
        let mut guard = lock.lock().unwrap();
        loop {
            if self.take_token() {
                return true;
            }
            let left = time_left(deadline);
            if left.is_zero() {
                return false;
            }
            guard = match deadline {
                None => woken.wait(guard).unwrap(),
                Some(_) => woken.wait_timeout(guard, left).unwrap().0,
            };
        }
    }

    fn take_token(&self) -> bool {
        // Acquire: pairs with the Release in `unpark`.
        self.shared.has_token.swap(false, Acquire)
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
        // Release: pairs with the Acquire in `take_token`. A swap rather than a
        // store, so that earlier unparks stay visible too.
        self.shared.has_token.swap(true, Release);
        // The thread holds the lock from its last look until it sleeps.
        drop(self.shared.lock.lock().unwrap());
        self.shared.woken.notify_one();
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
