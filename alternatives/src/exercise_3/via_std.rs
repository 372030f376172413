//! The waker that the standard library makes from an `Arc`.

use std::sync::Arc;
use std::task::{Wake, Waker};

pub use raw_waker::block_on;

/// Creates a waker that wakes `target`.
pub fn waker<W: Wake + Send + Sync + 'static>(target: Arc<W>) -> Waker {
    Waker::from(target)
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/03-raw-waker/src/tests/mod.rs"]
mod tests;
