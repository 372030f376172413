//! The right to run a task: what its holder has in hand.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use super::cell::{self, Header};
use super::{Schedule, holder};

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
    /// yielded; ends it if it is ready, has panicked or was aborted. What is
    /// still linked behind it is dropped first.
    #[inline]
    pub fn run(self) {
        let task = self.into_header();
        // SAFETY: we hold the task.
        unsafe { holder::run::<S>(task) };
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

    /// Takes out what is linked behind this one.
    #[inline]
    pub fn take_next(&mut self) -> Option<Self> {
        // SAFETY: we hold the task.
        let next = unsafe { cell::take_link(self.task) }?;
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
        // SAFETY: we hold the task, and nobody uses us again.
        unsafe { holder::give_up::<S>(self.task) };
    }
}

impl<S: Schedule> fmt::Debug for Runnable<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Runnable").field(&self.task).finish()
    }
}
