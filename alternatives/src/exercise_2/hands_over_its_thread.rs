//! Another correct design: the state is a pointer to the handle of the thread
//! that sleeps. `unpark` swaps the pointer out, owns the handle, and unparks
//! that thread, so that it needs no lock.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;
use std::time::{Duration, Instant};

use primitives::Arc;
use primitives::atomic::{AtomicPtr, Ordering};
use primitives::thread::{self, Thread};

use Ordering::{AcqRel, Acquire, Relaxed, Release};

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

struct Shared {
    /// Null: no token, and no thread sleeps. [`token`]: a token. Otherwise a
    /// box with the handle of the thread that sleeps, which belongs to the
    /// thread that swaps it out.
    state: AtomicPtr<Thread>,
}

/// A pointer to no box: it stands for the token.
fn token() -> *mut Thread {
    ptr::dangling_mut()
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            state: AtomicPtr::new(ptr::null_mut()),
        }
    }
}

impl Parker {
    /// Makes a parker without a token.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sleeps until there is a token, and takes it.
    pub fn park(&self) {
        self.sleep(thread::park, None);
    }

    /// Sleeps until there is a token or `timeout` has passed. Returns `true`
    /// if it has taken a token.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        let deadline = Instant::now().checked_add(timeout);
        let nap = || thread::park_timeout(time_left(deadline));
        self.sleep(nap, deadline)
    }

    fn sleep(&self, nap: impl Fn(), deadline: Option<Instant>) -> bool {
        let state = &self.shared.state;
        let own = Box::into_raw(Box::new(thread::current()));
        // Release: pairs with the Acquire in `unpark`, which reads the box.
        // Relaxed: a token that is there is taken below.
        let announced =
            state.compare_exchange(ptr::null_mut(), own, Release, Relaxed);
        if announced.is_err() {
            // SAFETY: the box wasn't handed over, so this thread owns it.
            drop(unsafe { Box::from_raw(own) });
        } else {
            // Relaxed: only tells whether to go on sleeping; the swap below acquires.
            while state.load(Relaxed) == own && !time_left(deadline).is_zero() {
                nap();
            }
        }
        // Acquire: pairs with the Release in `unpark`. Every unpark is a
        // read-modify-write, so all of them are seen.
        let found = state.swap(ptr::null_mut(), Acquire);
        if found == token() {
            return true;
        }
        if !found.is_null() {
            // SAFETY: the time is up and the box was still there, so no unpark has it.
            drop(unsafe { Box::from_raw(found) });
        }
        false
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
        // Release: pairs with the Acquire in `sleep`. Acquire: pairs with the
        // Release there; makes the box's contents visible.
        let found = self.shared.state.swap(token(), AcqRel);
        if !found.is_null() && found != token() {
            // SAFETY: the parker handed the box over, and the swap made us its
            // owner.
            let sleeper = unsafe { Box::from_raw(found) };
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
