//! Breaks clause 9: Panics.
//! Caught by: workers_survive_what_panics_after_the_poll
//!
//! The panic of a poll is caught where the future is polled, and goes to the
//! handle. What else could panic? The destructor of the future runs at the inner
//! brace, in this same poll, and takes the worker with it.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

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
        let result = {
            let mut future = pin!(future);
            let result = poll_fn(|cx| {
                let poll = || future.as_mut().poll(cx).map(Ok);
                catch_unwind(AssertUnwindSafe(poll)).unwrap_or_else(|payload| {
                    Poll::Ready(Err(JoinError::panicked(payload)))
                })
            });
            result.await
        };
        completer.complete(result);
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
