//! Breaks clause 11: Polled when woken.
//! Caught by: a_wake_up_causes_one_poll
//!
//! Looks once more before it sleeps, in case the future has become ready
//! meanwhile. If it has, there is a token, and `park` does not sleep. So half
//! of the polls are for nothing.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

pub use parker::{Parker, Unparker};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let parker = Parker::new();
    let waker = Waker::from(Arc::new(parker.unparker()));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        parker.park();
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/02-parker/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/02-parker/src/tests/mod.rs"]
mod tests;
