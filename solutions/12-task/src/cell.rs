//! The one allocation of a task: a header that is the same for all tasks, the
//! scheduler, and the future, whose place the result takes later.

use std::mem::{self, ManuallyDrop};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll};

use primitives::UnsafeCell;
use spawn_blocking::JoinError;

use super::header::Header;
use super::{Schedule, memory};

/// What can be reached without knowing the future's type.
#[repr(C)]
pub struct Front<S> {
    header: Header,
    /// Dropped when the task ends; a waker may stay for long after that.
    scheduler: ManuallyDrop<S>,
}

#[repr(C)]
pub struct Cell<F: Future, S> {
    front: Front<S>,
    stage: UnsafeCell<Stage<F>>,
}

pub enum Stage<F: Future> {
    // --> Finished (`poll`, `cancel`)
    Future(F),
    // --> Consumed (`take_output`, `drop_output`)
    Finished(Result<F::Output, JoinError>),
    Consumed,
}

/// Returns where the scheduler of a task is.
pub fn scheduler_of<S>(task: NonNull<Header>) -> NonNull<S> {
    let front = task.cast::<Front<S>>();
    // SAFETY: a task begins with a `Front` of its scheduler's type, so the
    // pointer stays within it. `Front` is `repr(C)`.
    unsafe { front.byte_add(mem::offset_of!(Front<S>, scheduler)) }.cast()
}

impl<F, S> Cell<F, S>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
    S: Schedule,
{
    /// Writes a new task to its place, part by part. If the cell were assembled
    /// first and then moved there, the future would be copied twice.
    ///
    /// # Safety
    ///
    /// `place` must be valid for writes of a `Self` and aligned for it, and no
    /// other code may use that memory.
    #[inline]
    pub unsafe fn write(
        place: NonNull<Self>,
        header: Header,
        scheduler: S,
        future: F,
    ) {
        // These two parts are the whole cell, and no code here can panic.
        let scheduler = ManuallyDrop::new(scheduler);
        // SAFETY: passed on. `Cell` is `repr(C)` and begins with its `Front`.
        unsafe { place.cast().write(Front { header, scheduler }) };
        // SAFETY: the stage is within the cell.
        let stage = unsafe { place.byte_add(mem::offset_of!(Self, stage)) };
        let future = UnsafeCell::new(Stage::Future(future));
        // SAFETY: passed on.
        unsafe { stage.cast().write(future) };
    }

    /// # Safety
    ///
    /// The caller must pass a task that was allocated as this type and that
    /// isn't freed before the end of `'a`.
    pub unsafe fn stage<'a>(task: NonNull<Header>) -> &'a UnsafeCell<Stage<F>> {
        let cell = task.cast::<Self>().as_ptr();
        // SAFETY: the pointer may be used for the whole cell, which is alive;
        // everything else in the stage is behind its `UnsafeCell`.
        unsafe { &(*cell).stage }
    }

    /// # Safety
    ///
    /// As [`Vtable`](super::header::Vtable) says. This holds for each function
    /// below.
    pub unsafe fn poll(
        task: NonNull<Header>,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        // SAFETY: the vtable is of this type, and the caller has the running
        // task.
        let stage = unsafe { Self::stage(task) };
        let polled = catch_unwind(AssertUnwindSafe(|| {
            stage.with_mut(|stage| {
                // SAFETY: only the thread that has the running task touches the
                // stage.
                let stage = unsafe { &mut *stage };
                let Stage::Future(future) = stage else {
                    unreachable!("a task that has ended is polled")
                };
                // SAFETY: the future stays in its cell until it is dropped
                // there.
                let future = unsafe { Pin::new_unchecked(future) };
                let output = match future.poll(cx) {
                    Poll::Ready(output) => output,
                    Poll::Pending => return Poll::Pending,
                };
                // Drops the future in place. If that panics, the output is
                // still there, for `end_by_panic` to drop.
                *stage = Stage::Finished(Ok(output));
                Poll::Ready(())
            })
        }));
        polled.unwrap_or_else(|payload| {
            // SAFETY: only the thread that has the running task touches the
            // stage.
            stage
                .with_mut(|stage| unsafe { &mut *stage }.end_by_panic(payload));
            Poll::Ready(())
        })
    }

    pub unsafe fn cancel(task: NonNull<Header>) {
        // SAFETY: the vtable is of this type, and the caller has the running
        // task.
        let stage = unsafe { Self::stage(task) };
        stage.with_mut(|stage| {
            // SAFETY: only the thread that has the running task touches the
            // stage.
            let stage = unsafe { &mut *stage };
            let dropped = catch_unwind(AssertUnwindSafe(|| {
                *stage = Stage::Finished(Err(JoinError::cancelled()));
            }));
            if let Err(payload) = dropped {
                stage.end_by_panic(payload);
            }
        });
    }

    pub unsafe fn take_output(task: NonNull<Header>, to: NonNull<()>) {
        // SAFETY: the vtable is of this type, and the result is there, so the
        // task hasn't been freed.
        let stage = unsafe { Self::stage(task) };
        let stage = stage.with_mut(|stage| {
            // SAFETY: the stage is the caller's.
            mem::replace(unsafe { &mut *stage }, Stage::Consumed)
        });
        let Stage::Finished(result) = stage else {
            unreachable!("a result is taken that isn't there")
        };
        // SAFETY: the handle's type is that of the future's output, and it
        // passes the place where it wants it.
        unsafe { to.cast().write(result) };
    }

    pub unsafe fn drop_output(task: NonNull<Header>) {
        // SAFETY: as in `take_output`.
        let stage = unsafe { Self::stage(task) };
        // SAFETY: the stage is the caller's.
        stage.with_mut(|stage| unsafe { &mut *stage }.clear());
    }

    pub unsafe fn free(task: NonNull<Header>) {
        // SAFETY: the vtable is of this type, and no other thread has a
        // reference.
        let stage = unsafe { Self::stage(task) };
        // SAFETY: as above. A model sees here whether this is true.
        stage.with_mut(|stage| unsafe { &mut *stage }.clear());
        // SAFETY: the task was put there with this type, and is never used
        // again.
        unsafe { memory::remove(task.cast::<Self>(), S::RECYCLES) };
    }
}

impl<F: Future> Stage<F> {
    /// Replaces what has panicked, or what is left of it, with the error.
    #[cold]
    pub fn end_by_panic(&mut self, payload: Box<dyn std::any::Any + Send>) {
        self.clear();
        *self = Stage::Finished(Err(JoinError::panicked(payload)));
    }

    /// Drops what is there, and ignores its panic.
    fn clear(&mut self) {
        ignore_panics(|| *self = Stage::Consumed);
    }
}

/// Runs `action`, and goes on if it panics.
pub fn ignore_panics(action: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(action)) {
        // The payload may panic in turn when it is dropped.
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(payload)));
        dropped.unwrap_or_else(mem::forget);
    }
}

/// Drops the scheduler of a task that has ended.
///
/// # Safety
///
/// The caller must have the running task, whose scheduler is an `S` and hasn't
/// been dropped, and must not use the scheduler again.
pub unsafe fn drop_scheduler<S>(task: NonNull<Header>) {
    let scheduler = scheduler_of::<S>(task);
    // SAFETY: the scheduler is there, and only the thread that has the running
    // task may touch it.
    ignore_panics(|| unsafe { ptr::drop_in_place(scheduler.as_ptr()) });
}
