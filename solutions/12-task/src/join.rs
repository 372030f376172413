//! The handle by which a task is awaited.

use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, RawWaker, Waker};

use super::JoinError;
use super::cell::{Header, ignore_panics};
use super::state::{Detached, Woken};

/// Awaits the result of a task. To drop it detaches the task, which runs on.
///
/// # Panics
///
/// When it is polled after it was ready.
pub struct JoinHandle<T> {
    /// Gone once the result was taken.
    task: Option<NonNull<Header>>,
    /// The waker that the task has. Only to be compared.
    published: Option<RawWaker>,
    _output: PhantomData<T>,
}

// SAFETY: it moves a `T` from the task's thread to its own, and is a counted
// reference to a task that may be used on any thread.
unsafe impl<T: Send> Send for JoinHandle<T> {}
// SAFETY: by reference it only asks for the end of the task, or whether it has
// ended.
unsafe impl<T: Send> Sync for JoinHandle<T> {}

impl<T> Unpin for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    /// # Safety
    ///
    /// The caller must pass a new task whose output is a `T`, and once.
    #[inline]
    pub unsafe fn from_header(task: NonNull<Header>) -> Self {
        Self {
            task: Some(task),
            published: None,
            _output: PhantomData,
        }
    }

    /// Asks for the end of the task: its future is dropped instead of being
    /// polled again. A task that is being polled may end by itself first.
    pub fn abort(&self) {
        let (Some(task), Some(header)) = (self.task, self.header()) else {
            return;
        };
        if header.state.abort() == Woken::Schedule {
            // SAFETY: we hold the task, and give it up.
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

    /// Leaves the waker with the task. Returns `true` if the task is complete,
    /// which may have come too late for the waker.
    fn register(&mut self, waker: &Waker) -> bool {
        let raw = RawWaker::new(waker.data(), waker.vtable());
        // The task had it while it was not complete. `waker` is alive, so the
        // address was not used again for another one.
        if self.published.as_ref() == Some(&raw) {
            return false;
        }
        let had_one = self.published.take().is_some();
        let Some(Header {
            state, join_waker, ..
        }) = self.header()
        else {
            unreachable!("only a handle that has a task registers")
        };
        if had_one && state.withdraw_waker() {
            return true;
        }
        let waker = waker.clone();
        // SAFETY: the slot is the handle's: `JOIN_WAKER` is not set.
        drop(join_waker.with_mut(|slot| unsafe { &mut *slot }.replace(waker)));
        if state.publish_waker() {
            // SAFETY: the slot is still ours: the task was complete already.
            drop(join_waker.with_mut(|slot| unsafe { &mut *slot }.take()));
            return true;
        }
        self.published = Some(raw);
        false
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    #[inline]
    fn poll(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Self::Output> {
        let (Some(task), Some(header)) = (self.task, self.header()) else {
            panic!("a `JoinHandle` was polled after its end")
        };
        let vtable = header.vtable;
        if !header.state.is_complete() && !self.register(cx.waker()) {
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
    fn drop(&mut self) {
        let (Some(task), Some(header)) = (self.task, self.header()) else {
            return;
        };
        match header.state.detach() {
            Detached::Done => return,
            Detached::DropWaker => {
                let slot = &header.join_waker;
                // SAFETY: the handle has taken the slot back.
                let waker = slot.with_mut(|slot| unsafe { &mut *slot }.take());
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
    // SAFETY: the reference was not given back yet.
    let header = unsafe { task.as_ref() };
    if header.state.release() {
        // SAFETY: it was the last, so the task has ended: its own is given
        // back then.
        unsafe { (header.vtable.free)(task) };
    }
}
