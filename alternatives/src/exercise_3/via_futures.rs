//! The waker of futures, whose trait is `ArcWake`, and its `block_on`.

use std::sync::Arc;
use std::task::{Wake, Waker};

use futures::task::ArcWake;

pub use futures::executor::block_on;

/// Creates a waker that wakes `target`.
pub fn waker<W: Wake + Send + Sync + 'static>(target: Arc<W>) -> Waker {
    futures::task::waker(Arc::new(ByArcWake(target)))
}

struct ByArcWake<W>(Arc<W>);

impl<W: Wake + Send + Sync> ArcWake for ByArcWake<W> {
    fn wake(self: Arc<Self>) {
        W::wake(self.0.clone());
    }

    fn wake_by_ref(this: &Arc<Self>) {
        W::wake_by_ref(&this.0);
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/03-raw-waker/src/tests/mod.rs"]
mod tests;
