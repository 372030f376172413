//! The parker of the crate parking. Its `park_timeout` may return early after a
//! spurious wake-up, and the loop around it makes up for that.

use std::time::{Duration, Instant};

pub use parking::Unparker;

use super::time_left;

/// Lets a thread sleep until another thread leaves it a token.
#[derive(Default)]
pub struct Parker(parking::Parker);

impl Parker {
    /// Makes a parker without a token.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sleeps until there is a token, and takes it.
    pub fn park(&self) {
        self.0.park();
    }

    /// Sleeps until there is a token or `timeout` has passed. Returns `true`
    /// if it has taken a token.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        let deadline = Instant::now().checked_add(timeout);
        loop {
            let left = time_left(deadline);
            if self.0.park_timeout(left) {
                return true;
            }
            if left.is_zero() {
                return false;
            }
        }
    }

    /// Creates an unparker of this parker.
    pub fn unparker(&self) -> Unparker {
        self.0.unparker()
    }
}

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let parker = Parker::new();
    let unparker = parker.unparker();
    super::poll_and_park(
        future,
        || parker.park(),
        move || _ = unparker.unpark(),
    )
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/02-parker/src/tests/mod.rs"]
mod tests;
