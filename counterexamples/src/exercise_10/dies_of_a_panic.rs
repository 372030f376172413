//! Breaks clause 9: Panics.
//! Caught by: workers_survive_panics
//! Also fails: a_task_that_has_ended_is_not_polled_again
//! Also fails: the_future_is_gone_when_the_handle_is_ready
//! Also fails: a_panic_reaches_the_handle_and_nobody_else
//! Also fails: workers_survive_what_panics_after_the_poll
//!
//! A panic unwinds the stack, drops what the future owns, and so cancels the
//! handle: nothing is left behind. But the stack belongs to the worker. It
//! ends, and nobody starts another.

use local_executor::outcome;

use right::Work;

pub use local_executor::{JoinError, JoinHandle};
pub use pool::{Handle, Pool};

/// What this version has of its own.
mod work {
    pub(super) use super::right::{Work, drop_quietly};
    pub(super) use super::work;
}

/// Makes the work of a future, and the handle of its output. Work that is
/// dropped before its end is cancelled.
fn work<F>(future: F) -> (Work, JoinHandle<F::Output>)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let (completer, handle) = outcome();
    let work = async move {
        let output = future.await;
        completer.complete(Ok(output));
    };
    (Box::pin(work), handle)
}

/// The solution's, for what is the same here.
#[path = "../../../solutions/10-one-queue/src/work.rs"]
#[allow(dead_code, reason = "some of it is replaced")]
mod right;

#[path = "../../../solutions/10-one-queue/src/pool.rs"]
mod pool;
#[path = "../../../solutions/10-one-queue/src/shared.rs"]
mod shared;
#[path = "../../../solutions/10-one-queue/src/task.rs"]
mod task;

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/10-one-queue/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/10-one-queue/src/tests/mod.rs"]
mod tests;
