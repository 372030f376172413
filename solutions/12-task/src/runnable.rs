//! The right to run a task, and what can be done with it: poll the task, and
//! then leave it waiting, schedule it again or end it.

use std::fmt;
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop};
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

use super::cell::{self, ignore_panics};
use super::header::Header;
use super::state::{Completed, IdleTransition, RunTransition};
use super::{Schedule, owned, waker, waker_cell, yields};

/// The right to poll a task once: a task never has more than one. It is one
/// word. If it is dropped without having been run, it cancels the task.
pub struct Runnable<S: Schedule> {
    task: NonNull<Header>,
    _scheduler: PhantomData<S>,
}

// SAFETY: its future, its result and its scheduler are `Send`, by the bounds of
// `spawn`.
unsafe impl<S: Schedule> Send for Runnable<S> {}
// SAFETY: a reference only gives access to its scheduler, which is `Sync`.
unsafe impl<S: Schedule> Sync for Runnable<S> {}

impl<S: Schedule> Runnable<S> {
    /// Polls the task. Schedules it again if it was woken meanwhile or has
    /// yielded; ends it if it is ready, has panicked or was aborted. What is
    /// still linked behind it is dropped first.
    #[inline]
    pub fn run(mut self) {
        // A queue takes the next task out before. Left in, it would never end.
        drop(self.take_next());
        if self.header().state.transition_to_running() == RunTransition::Cancel
        {
            return self.cancel();
        }
        // SAFETY: the task is alive as long as we can run it.
        let waker = unsafe { waker::borrowed(self.task) };
        let mut cx = Context::from_waker(&waker);
        let (polled, has_yielded) = yields::watch(self.task, || {
            // SAFETY: we are the right to run the task.
            unsafe { (self.header().vtable.poll)(self.task, &mut cx) }
        });
        if polled == Poll::Ready(()) {
            return self.end();
        }
        if has_yielded {
            return self.schedule_yielded();
        }
        if !owned::enter(&self) {
            return self.cancel();
        }
        match self.header().state.transition_to_idle() {
            // Another thread may run it, and may have ended it already.
            IdleTransition::Idle => mem::forget(self),
            IdleTransition::Notified => self.schedule_yielded(),
            IdleTransition::Cancelled => self.cancel(),
        }
    }

    /// Returns the scheduler that the task was spawned with.
    #[inline]
    pub fn scheduler(&self) -> &S {
        // SAFETY: we have the running task, so its scheduler is there.
        unsafe { cell::scheduler_of::<S>(self.task).as_ref() }
    }

    /// Converts it into a pointer, for a queue of pointers. The task never ends
    /// unless the pointer is converted back with [`from_raw`](Self::from_raw).
    #[inline]
    pub fn into_raw(self) -> NonNull<()> {
        self.into_header().cast()
    }

    /// Converts the pointer back.
    ///
    /// # Safety
    ///
    /// The caller must pass a pointer that [`into_raw`](Self::into_raw) of the
    /// same type has returned, and each only once.
    #[inline]
    pub unsafe fn from_raw(raw: NonNull<()>) -> Self {
        // SAFETY: the caller ensures it.
        unsafe { Self::from_header(raw.cast()) }
    }

    /// Links another `Runnable` behind this one, or none. What was linked
    /// before is dropped.
    #[inline]
    pub fn set_next(&mut self, next: Option<Self>) {
        drop(self.take_next());
        let next = next.map(Self::into_header);
        // SAFETY: we have the running task.
        self.header()
            .queue_link
            .with_mut(|link| unsafe { *link = next });
    }

    /// Takes out what is linked behind this one.
    #[inline]
    pub fn take_next(&mut self) -> Option<Self> {
        let link = &self.header().queue_link;
        // SAFETY: only the thread that may run the task touches its link.
        let next = link.with_mut(|link| unsafe { &mut *link }.take())?;
        // SAFETY: it was a `Runnable` of the same type when it was linked.
        Some(unsafe { Self::from_header(next) })
    }

    /// # Safety
    ///
    /// The caller must have the running task, whose scheduler is an `S`, and
    /// gives it up to the `Runnable`.
    #[inline]
    pub unsafe fn from_header(task: NonNull<Header>) -> Self {
        Self {
            task,
            _scheduler: PhantomData,
        }
    }

    // ANCHOR: schedule
    /// Gives the task to its scheduler. Calls a copy: another thread may run
    /// the task and free it before `schedule` returns.
    #[inline]
    pub fn schedule(self) {
        let scheduler = self.scheduler().clone();
        scheduler.schedule(self);
    }
    // ANCHOR_END: schedule

    /// Like [`schedule`](Self::schedule), for a task that has just run.
    #[inline]
    fn schedule_yielded(self) {
        let scheduler = self.scheduler().clone();
        scheduler.schedule_yielded(self);
    }

    /// Drops the future, and ends the task with an error.
    #[cold]
    fn cancel(self) {
        // Not dropped by a panic, which would cancel it a second time.
        let task = ManuallyDrop::new(self);
        // SAFETY: we are the right to run the task.
        unsafe { (task.header().vtable.cancel)(task.task) };
        ManuallyDrop::into_inner(task).end();
    }

    /// Publishes the result, which must be there.
    #[inline]
    fn end(self) {
        owned::leave(&self);
        let task = self.into_header();
        // SAFETY: the task is alive until its reference is given back, below.
        let Header { state, vtable, .. } = unsafe { task.as_ref() };
        // SAFETY: the scheduler is an `S`, and isn't used after this.
        unsafe { cell::drop_scheduler::<S>(task) };
        let mut completed = state.transition_to_complete(false);
        if completed == Completed::Unwanted {
            // SAFETY: the result is there, and the handle is gone.
            unsafe { (vtable.drop_output)(task) };
            completed = state.transition_to_complete(true);
        }
        let is_last = match completed {
            Completed::Shared => false,
            Completed::Free => true,
            Completed::WakeJoiner => {
                // SAFETY: our reference isn't given back yet, and the handle
                // has left its waker to the thread that completes the task.
                let waker = unsafe { waker_cell::take(task) };
                // It is foreign code, and may panic.
                ignore_panics(|| waker.into_iter().for_each(Waker::wake));
                state.release()
            }
            Completed::Unwanted => unreachable!("the result was dropped"),
        };
        if is_last {
            // SAFETY: the task has ended, and the reference was the last.
            unsafe { (vtable.free)(task) };
        }
    }

    #[inline]
    fn into_header(self) -> NonNull<Header> {
        ManuallyDrop::new(self).task
    }

    #[inline]
    pub(super) fn as_ptr(&self) -> NonNull<Header> {
        self.task
    }

    #[inline]
    pub(super) fn header(&self) -> &Header {
        // SAFETY: the task is alive as long as it can be run.
        unsafe { self.task.as_ref() }
    }
}

impl<S: Schedule> Drop for Runnable<S> {
    /// Cancels the task, and what is linked behind it.
    fn drop(&mut self) {
        let mut next = self.take_next();
        // SAFETY: we have the right to run the task, and aren't used again.
        unsafe { Self::from_header(self.task) }.cancel();
        // One by one: a queue may be long.
        while let Some(mut task) = next {
            next = task.take_next();
            task.cancel();
        }
    }
}

impl<S: Schedule> fmt::Debug for Runnable<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Runnable").field(&self.task).finish()
    }
}
