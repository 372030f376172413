//! Breaks clause 10: No lost wake-up.
//! Caught by: a_wake_up_survives_a_future_that_calls_block_on
//!
//! All calls of `block_on` on a thread share its parker. A call inside a poll
//! takes the token that the outer one's future has been left.

use std::rc::Rc;

pub use parker::{Parker, Unparker};

thread_local! {
    static PARKER: Rc<Parker> = Rc::new(Parker::new());
}

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let parker = PARKER.with(Rc::clone);
    let unparker = parker.unparker();
    super::poll_and_park(future, || parker.park(), move || unparker.unpark())
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/02-parker/src/tests/mod.rs"]
mod tests;
