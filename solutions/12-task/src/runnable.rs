//! A task that somebody holds, and what its holder does with it.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::task::{Context, Poll};

use super::cell::{self, Header, ignore_panics};
use super::state::{Completed, Pending, Turn};
use super::{Schedule, owned, waker, yields};

/// The right to poll a task once: there is never more than one of a task. It
/// is one word. Dropped without having been run, it cancels the task.
pub struct Runnable<S: Schedule> {
    task: NonNull<Header>,
    _scheduler: PhantomData<S>,
}

// SAFETY: its future, its result and its scheduler are `Send`: `spawn` says so.
unsafe impl<S: Schedule> Send for Runnable<S> {}
// SAFETY: by reference it gives away only its scheduler, which is `Sync`.
unsafe impl<S: Schedule> Sync for Runnable<S> {}

impl<S: Schedule> Runnable<S> {
    /// Polls the task. Schedules it again if it was woken meanwhile or has
    /// yielded; ends it if it is ready, has panicked or was aborted.
    #[inline]
    pub fn run(self) {
        let task = self.into_header();
        // SAFETY: we hold the task.
        unsafe { run::<S>(task) };
    }

    /// The scheduler that the task was spawned with.
    #[inline]
    pub fn scheduler(&self) -> &S {
        // SAFETY: we hold the task, so its scheduler is there.
        unsafe { cell::scheduler_of::<S>(self.task).as_ref() }
    }

    /// Turns it into a pointer, for a queue of pointers. To be turned back by
    /// [`from_raw`](Self::from_raw), or the task never ends.
    #[inline]
    pub fn into_raw(self) -> NonNull<()> {
        self.into_header().cast()
    }

    /// Turns the pointer back.
    ///
    /// # Safety
    ///
    /// The caller must pass what [`into_raw`](Self::into_raw) of the same type
    /// has returned, and each once.
    #[inline]
    pub unsafe fn from_raw(raw: NonNull<()>) -> Self {
        // SAFETY: the caller answers for it.
        unsafe { Self::from_header(raw.cast()) }
    }

    /// Links another one behind this one, or none. What was linked before is
    /// dropped.
    #[inline]
    pub fn set_next(&mut self, next: Option<Self>) {
        drop(self.take_next());
        let next = next.map(Self::into_header);
        // SAFETY: we hold the task.
        self.header()
            .queue_link
            .with_mut(|link| unsafe { *link = next });
    }

    /// Takes out what is linked behind this one. To be done before it is run.
    #[inline]
    pub fn take_next(&mut self) -> Option<Self> {
        let link = &self.header().queue_link;
        // SAFETY: we hold the task.
        let next = link.with_mut(|link| unsafe { &mut *link }.take())?;
        // SAFETY: it was a `Runnable` of the same type when it was linked.
        Some(unsafe { Self::from_header(next) })
    }

    /// # Safety
    ///
    /// The caller must hold the task, whose scheduler is an `S`, and gives it
    /// up to the `Runnable`.
    #[inline]
    pub unsafe fn from_header(task: NonNull<Header>) -> Self {
        Self {
            task,
            _scheduler: PhantomData,
        }
    }

    #[inline]
    fn into_header(self) -> NonNull<Header> {
        ManuallyDrop::new(self).task
    }

    #[inline]
    fn header(&self) -> &Header {
        // SAFETY: we hold the task.
        unsafe { self.task.as_ref() }
    }
}

impl<S: Schedule> Drop for Runnable<S> {
    /// Cancels the task.
    fn drop(&mut self) {
        // One by one: a queue may be long.
        let mut linked = self.take_next();
        while let Some(mut task) = linked {
            linked = task.take_next();
        }
        // SAFETY: we hold the task, and nobody uses us again.
        unsafe { cancel::<S>(self.task) };
    }
}

impl<S: Schedule> fmt::Debug for Runnable<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Runnable").field(&self.task).finish()
    }
}

/// # Safety
///
/// The caller must hold the task, whose scheduler is an `S`, and gives it up.
/// This holds for each function below.
#[inline]
unsafe fn run<S: Schedule>(task: NonNull<Header>) {
    // SAFETY: the caller holds the task.
    let header = unsafe { task.as_ref() };
    if header.state.begin() == Turn::Cancel {
        // SAFETY: passed on.
        return unsafe { cancel::<S>(task) };
    }
    // SAFETY: the task is alive as long as we hold it.
    let waker = unsafe { waker::borrowed(task) };
    let mut cx = Context::from_waker(&waker);
    let (polled, has_yielded) = yields::watch(task, || {
        // SAFETY: the caller holds the task.
        unsafe { (header.vtable.poll)(task, &mut cx) }
    });
    if polled == Poll::Ready(()) {
        // SAFETY: passed on; the result is there.
        return unsafe { end::<S>(task) };
    }
    if has_yielded {
        // SAFETY: passed on.
        let task = unsafe { Runnable::<S>::from_header(task) };
        let scheduler = task.scheduler().clone();
        return scheduler.schedule_yielded(task);
    }
    // SAFETY: the caller holds the task.
    if !unsafe { owned::enter::<S>(task) } {
        // SAFETY: passed on.
        return unsafe { cancel::<S>(task) };
    }
    match header.state.let_go() {
        Pending::Waits => {}
        // SAFETY: passed on.
        Pending::Notified => unsafe { schedule::<S>(task) },
        // SAFETY: passed on.
        Pending::Cancelled => unsafe { cancel::<S>(task) },
    }
}

/// Calls the scheduler. On a copy: another thread may run the task and free it
/// before `schedule` returns.
///
/// # Safety
///
/// As for [`run`].
#[inline]
pub unsafe fn schedule<S: Schedule>(task: NonNull<Header>) {
    // SAFETY: passed on.
    let task = unsafe { Runnable::<S>::from_header(task) };
    let scheduler = task.scheduler().clone();
    scheduler.schedule(task);
}

/// Drops the future, and ends the task with an error.
///
/// # Safety
///
/// As for [`run`].
#[cold]
unsafe fn cancel<S: Schedule>(task: NonNull<Header>) {
    // SAFETY: the caller holds the task.
    let header = unsafe { task.as_ref() };
    // SAFETY: as above.
    unsafe { (header.vtable.cancel)(task) };
    // SAFETY: passed on; the result is there.
    unsafe { end::<S>(task) };
}

/// Hands the result over.
///
/// # Safety
///
/// As for [`run`], and the result must be there.
#[inline]
unsafe fn end<S: Schedule>(task: NonNull<Header>) {
    // SAFETY: the caller holds the task.
    let Header { state, vtable, .. } = unsafe { task.as_ref() };
    // SAFETY: as above.
    unsafe { owned::leave::<S>(task) };
    // SAFETY: as above, and from here on nobody asks for the scheduler.
    unsafe { cell::drop_scheduler::<S>(task) };
    let mut completed = state.complete(false);
    if completed == Completed::Unwanted {
        // SAFETY: the result is there, and the handle is gone.
        unsafe { (vtable.drop_output)(task) };
        completed = state.complete(true);
    }
    let is_last = match completed {
        Completed::Shared => false,
        Completed::Free => true,
        Completed::WakeJoiner => {
            wake_joiner(task);
            state.release()
        }
        Completed::Unwanted => unreachable!("the result was dropped"),
    };
    if is_last {
        // SAFETY: the task has ended, and the reference was the last.
        unsafe { (vtable.free)(task) };
    }
}

/// Wakes who awaits the handle. The waker is anybody's, and may panic.
fn wake_joiner(task: NonNull<Header>) {
    // SAFETY: the task's own reference is not given back yet.
    let slot = &unsafe { task.as_ref() }.join_waker;
    // SAFETY: the handle has left the waker to who completes the task.
    let waker = slot.with_mut(|slot| unsafe { &mut *slot }.take());
    if let Some(waker) = waker {
        ignore_panics(|| waker.wake());
    }
}
