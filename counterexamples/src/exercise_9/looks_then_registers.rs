//! Breaks clause 14: Two ends.
//! Caught by: models::a_result_reaches_who_awaits_it_in_every_order
//! Also fails: thousands_of_results_reach_those_who_await_them
//!
//! The handle looks for the result, and then leaves its waker: two steps, each
//! under the lock. A result that comes in between finds no waker, or the old
//! one.

#[path = "../../../solutions/09-local-executor/src/catch_unwind.rs"]
mod catch_unwind;
#[path = "../../../solutions/09-local-executor/src/enter.rs"]
mod enter;
#[path = "../../../solutions/09-local-executor/src/executor.rs"]
mod executor;
#[path = "../../../solutions/09-local-executor/src/inbox.rs"]
mod inbox;
#[path = "../../../solutions/09-local-executor/src/slab.rs"]
mod slab;

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

use sync::{Arc, Mutex, MutexGuard};

pub use catch_unwind::{CatchUnwind, job};
pub use enter::spawn;
use enter::{EnterGuard, wake_here};
use executor::Core;
pub use executor::LocalExecutor;
use inbox::{Inbox, Signal};
use slab::{Key, Slab, Task, Turn};
pub use spawn_blocking::JoinError;

/// Makes the two ends of a result. Both are `Send` if the result is.
pub fn outcome<T>() -> (Completer<T>, JoinHandle<T>) {
    let slot = Arc::new(Slot(Mutex::new(Stage::Awaited(None))));
    (Completer(Some(slot.clone())), JoinHandle(slot))
}

/// Makes the [`JoinHandle`] of the other end ready. To drop it cancels.
pub struct Completer<T>(Option<Arc<Slot<T>>>);

/// Awaits what a task returns. To drop it detaches the task, which runs on.
///
/// # Panics
///
/// When it is polled after it was ready.
#[must_use = "a handle that is dropped detaches its task"]
pub struct JoinHandle<T>(Arc<Slot<T>>);

/// Where the result meets the waker of whoever awaits it.
struct Slot<T>(Mutex<Stage<T>>);

enum Stage<T> {
    /// No result yet; the waker of the handle's last poll.
    // --> Complete (`Completer::complete`, or its drop)
    Awaited(Option<Waker>),
    // --> Taken (`JoinHandle::poll`)
    Complete(Result<T, JoinError>),
    Taken,
}

impl<T> Completer<T> {
    /// Makes the handle ready with `result`. Never panics, whatever the waker
    /// or the destructor of an unwanted result does.
    pub fn complete(mut self, result: Result<T, JoinError>) {
        self.end(result);
    }

    fn end(&mut self, result: Result<T, JoinError>) {
        let Some(slot) = self.0.take() else { return };
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let before =
                mem::replace(&mut *slot.lock(), Stage::Complete(result));
            // The waker may be anybody's code: it runs without the lock.
            if let Stage::Awaited(Some(waker)) = before {
                waker.wake();
            }
            // With the handle gone, this drops the result.
            drop(slot);
        }));
        // What was thrown may panic in turn when it is dropped.
        ended.unwrap_or_else(mem::forget);
    }
}

impl<T> Drop for Completer<T> {
    fn drop(&mut self) {
        self.end(Err(JoinError::cancelled()));
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(result) = self.0.take() {
            return Poll::Ready(result);
        }
        let replaced = self.0.replace_waker(cx.waker().clone());
        drop(replaced);
        Poll::Pending
    }
}

impl<T> Slot<T> {
    fn take(&self) -> Option<Result<T, JoinError>> {
        let mut stage = self.lock();
        match mem::replace(&mut *stage, Stage::Taken) {
            Stage::Complete(result) => Some(result),
            Stage::Taken => panic!("a `JoinHandle` was polled after its end"),
            early => {
                *stage = early;
                None
            }
        }
    }

    fn replace_waker(&self, waker: Waker) -> Option<Waker> {
        match &mut *self.lock() {
            Stage::Awaited(awaiting) => awaiting.replace(waker),
            _ => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Stage<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/09-local-executor/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/09-local-executor/src/tests/mod.rs"]
mod tests;
