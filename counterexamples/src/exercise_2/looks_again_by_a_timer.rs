//! Breaks clause 11: Polled when woken.
//! Caught by: the_future_is_polled_only_when_woken
//!
//! A safety net around a parker that needs none: `block_on` polls every ten
//! milliseconds, woken or not. It hides the futures that forget their waker.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

pub use parker::{Parker, Unparker};

/// How long a lost wake-up may delay.
const NET: Duration = Duration::from_millis(10);

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
        parker.park_timeout(NET);
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/02-parker/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/02-parker/src/tests/mod.rs"]
mod tests;
