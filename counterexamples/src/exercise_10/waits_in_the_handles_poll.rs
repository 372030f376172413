//! Breaks clause 7: The handle.
//! Caught by: a_handle_gives_the_output
//! Also fails: workers_survive_what_panics_after_the_poll
//!
//! A channel of std carries the output, and `recv` waits for it. Any thread can
//! await such a handle. So can a task, and its worker waits with it, instead of
//! polling others. The task that it waits for may be one of those.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context, Poll};

use right::{Work, drop_quietly};

pub use local_executor::JoinError;
pub use pool::{Handle, Pool};

/// What this version has of its own.
mod work {
    pub(super) use super::right::{Work, drop_quietly};
    pub(super) use super::work;
}

/// A future of what a task returns.
pub struct JoinHandle<T>(mpsc::Receiver<Result<T, JoinError>>);

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Result<T, JoinError>> {
        // Work that is dropped drops the sender.
        let result = self.0.recv();
        Poll::Ready(result.unwrap_or_else(|_| Err(JoinError::cancelled())))
    }
}

/// Makes the work of a future, and the handle of its output. Work that is
/// dropped before its end is cancelled.
fn work<F>(future: F) -> (Work, JoinHandle<F::Output>)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let (sender, receiver) = mpsc::channel();
    let work = async move {
        let mut future = Box::pin(future);
        let result = poll_fn(|cx| {
            let poll = || future.as_mut().poll(cx).map(Ok);
            catch_unwind(AssertUnwindSafe(poll)).unwrap_or_else(|payload| {
                Poll::Ready(Err(JoinError::panicked(payload)))
            })
        });
        let result = result.await;
        drop_quietly(future);
        drop_quietly(sender.send(result));
    };
    (Box::pin(work), JoinHandle(receiver))
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

// No models: the channel's steps are not the model's.
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/10-one-queue/src/tests/mod.rs"]
mod tests;
