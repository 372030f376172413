//! What the standard library makes of an `Arc`.

use std::sync::Arc;
use std::task::{Wake, Waker};

pub use raw_waker::block_on;

/// Makes a waker that wakes `target`.
pub fn waker<W: Wake + Send + Sync + 'static>(target: Arc<W>) -> Waker {
    Waker::from(target)
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/03-raw-waker/src/tests/mod.rs"]
mod tests;
