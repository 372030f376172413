//! The two ends of a result: one completes it, the other awaits it.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

use primitives::{Arc, Mutex, MutexGuard};
use spawn_blocking::JoinError;

/// Creates the two ends of a result. Both are `Send` if the result is.
pub fn outcome<T>() -> (Completer<T>, JoinHandle<T>) {
    let slot = Arc::new(Slot(Mutex::new(Stage::Awaited(None))));
    (Completer(Some(slot.clone())), JoinHandle(slot))
}

/// Makes the [`JoinHandle`] of the other end ready. Dropping it cancels.
pub struct Completer<T>(Option<Arc<Slot<T>>>);

/// Awaits what a task returns. Dropping it detaches the task, which continues
/// to run.
///
/// # Panics
///
/// Panics if it's polled after it was ready.
#[must_use = "a handle that is dropped detaches its task"]
pub struct JoinHandle<T>(Arc<Slot<T>>);

// ANCHOR: slot
/// Where the result meets the waker of the task that awaits it.
struct Slot<T>(Mutex<Stage<T>>);

enum Stage<T> {
    /// No result yet; the waker of the handle's last poll.
    // --> Complete (`Completer::complete`, or its drop)
    Awaited(Option<Waker>),
    // --> Taken (`JoinHandle::poll`)
    Complete(Result<T, JoinError>),
    Taken,
}
// ANCHOR_END: slot

impl<T> Completer<T> {
    /// Makes the handle ready with `result`. Never panics, no matter what the
    /// waker or the destructor of an unwanted result does.
    pub fn complete(mut self, result: Result<T, JoinError>) {
        self.end(result);
    }

    fn end(&mut self, result: Result<T, JoinError>) {
        let Some(slot) = self.0.take() else { return };
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let before =
                mem::replace(&mut *slot.lock(), Stage::Complete(result));
            // A waker may run arbitrary code, so it's called without the lock.
            if let Stage::Awaited(Some(waker)) = before {
                waker.wake();
            }
            // With the handle gone, this drops the result.
            drop(slot);
        }));
        // The panic's payload may itself panic when it's dropped.
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
        let waker = cx.waker().clone();
        let mut stage = self.0.lock();
        // One check in one critical section: a result that comes later finds
        // the waker.
        match mem::replace(&mut *stage, Stage::Taken) {
            Stage::Complete(result) => Poll::Ready(result),
            Stage::Taken => {
                panic!("a `JoinHandle` was polled after it was ready")
            }
            Stage::Awaited(before) => {
                *stage = Stage::Awaited(Some(waker));
                // Dropping a waker may run arbitrary code, too.
                drop(stage);
                drop(before);
                Poll::Pending
            }
        }
    }
}

impl<T> Slot<T> {
    // A model's failing order shows who locks.
    #[track_caller]
    fn lock(&self) -> MutexGuard<'_, Stage<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
