//! The handle that awaits a task.

use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, RawWaker};

use super::cell::ignore_panics;
use super::header::Header;
use super::state::{Detached, Woken};
use super::{JoinError, waker_cell};

/// Awaits the result of a task. Dropping it detaches the task, which runs on.
///
/// # Panics
///
/// If it is polled after it was ready.
pub struct JoinHandle<T> {
    /// Gone once the result was taken.
    task: Option<NonNull<Header>>,
    /// The waker that the task has. Only for comparison.
    published: Option<RawWaker>,
    _output: PhantomData<T>,
}

// SAFETY: it moves a `T` from the task's thread to its own, and is a counted
// reference to a task that may be used on any thread.
unsafe impl<T: Send> Send for JoinHandle<T> {}
// SAFETY: a reference only allows requesting the end of the task, or asking
// whether it has ended.
unsafe impl<T: Send> Sync for JoinHandle<T> {}

impl<T> Unpin for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    /// # Safety
    ///
    /// The caller must pass a new task whose output is a `T`, and only once.
    #[inline]
    pub unsafe fn from_header(task: NonNull<Header>) -> Self {
        Self {
            task: Some(task),
            published: None,
            _output: PhantomData,
        }
    }

    /// Requests the end of the task: its future is dropped instead of being
    /// polled again. A task that is being polled may end by itself first.
    pub fn abort(&self) {
        let (Some(task), Some(header)) = (self.task, self.header()) else {
            return;
        };
        if header.state.abort() == Woken::Schedule {
            // SAFETY: we have the running task, and give it up.
            unsafe { (header.vtable.schedule)(task) };
        }
    }

    /// Returns `true` if the result is there or was taken.
    pub fn is_finished(&self) -> bool {
        self.header()
            .is_none_or(|header| header.state.is_complete())
    }

    fn header(&self) -> Option<&Header> {
        // SAFETY: our reference keeps the task alive.
        self.task.map(|task| unsafe { task.as_ref() })
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    #[inline]
    fn poll(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Self::Output> {
        let Some(task) = self.task else {
            panic!("a `JoinHandle` was polled after its end")
        };
        // SAFETY: our reference keeps the task alive.
        let Header { state, vtable, .. } = unsafe { task.as_ref() };
        let place = &mut self.published;
        // SAFETY: we are the handle.
        let mut leave =
            || unsafe { waker_cell::store(task, place, cx.waker()) };
        if !state.is_complete() && !leave() {
            return Poll::Pending;
        }
        self.task = None;
        let mut result = MaybeUninit::uninit();
        let place = NonNull::from(&mut result).cast();
        // SAFETY: the task is complete, and the result the handle's. The place
        // is that of a `Result<T, JoinError>`.
        unsafe { (vtable.take_output)(task, place) };
        release(task);
        // SAFETY: `take_output` has put it there.
        Poll::Ready(unsafe { result.assume_init() })
    }
}

impl<T> Drop for JoinHandle<T> {
    #[inline]
    fn drop(&mut self) {
        let (Some(task), Some(header)) = (self.task, self.header()) else {
            return;
        };
        match header.state.detach() {
            Detached::Done => return,
            Detached::DropWaker => {
                // SAFETY: the handle has taken the waker cell back.
                let waker = unsafe { waker_cell::take(task) };
                ignore_panics(|| drop(waker));
            }
            // SAFETY: the task is complete, and the result the handle's.
            Detached::DropOutput => unsafe {
                (header.vtable.drop_output)(task);
            },
        }
        release(task);
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JoinHandle").field(&self.task).finish()
    }
}

/// Gives the handle's reference back.
#[inline]
fn release(task: NonNull<Header>) {
    // SAFETY: the reference wasn't given back yet.
    let header = unsafe { task.as_ref() };
    if header.state.release() {
        // SAFETY: it was the last, so the task has ended: its own reference is
        // given back by then.
        unsafe { (header.vtable.free)(task) };
    }
}
