//! Breaks clause 9: Panics.
//! Caught by: a_panic_reaches_the_handle_and_nobody_else
//!
//! The work catches what the future throws, since a worker must not die of it. And
//! then there is no output to give: the completer is dropped, and a dropped
//! completer cancels. The handle is ready, and nobody hears what went wrong.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

use local_executor::outcome;

use right::{Work, drop_quietly};

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
        let mut future = Box::pin(future);
        let output = poll_fn(|cx| {
            let poll = || future.as_mut().poll(cx).map(Some);
            let polled = catch_unwind(AssertUnwindSafe(poll));
            polled.unwrap_or(Poll::Ready(None))
        });
        let output = output.await;
        drop_quietly(future);
        if let Some(output) = output {
            completer.complete(Ok(output));
        }
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
