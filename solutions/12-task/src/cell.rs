//! The one allocation of a task: a header that is the same for all tasks, the
//! scheduler, and the future, in whose place the result comes.

use std::mem::{self, ManuallyDrop};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll, Waker};

use spawn_blocking::JoinError;
use sync::UnsafeCell;

use super::owned::Links;
use super::state::State;
use super::{Schedule, holder, memory};

/// What all tasks have in common. Who may touch what, and when:
///
/// - `state`, `vtable`: everybody who has a reference, or holds the task.
/// - `queue_link`: who holds the task, by its `Runnable`.
/// - `links`: see [`Links`].
/// - `join_waker`: the handle, unless `JOIN_WAKER` is set. Then nobody, until
///   the task is complete: whoever completed it.
///
/// Behind the header, in a [`Cell`]:
///
/// - `scheduler`: who holds the task.
/// - `stage`: who holds the task, until it is complete. Then the handle; or
///   whoever completed it, if `JOIN_INTEREST` was not set any more.
#[repr(C)]
pub struct Header {
    pub state: State,
    pub vtable: &'static Vtable,
    pub queue_link: UnsafeCell<Option<NonNull<Header>>>,
    pub links: Links,
    pub join_waker: UnsafeCell<Option<Waker>>,
}

// ANCHOR: vtable
/// What depends on the types of the future and of the scheduler. Each function
/// wants the pointer of a task that was allocated with this vtable.
pub struct Vtable {
    /// Polls the future. If that is ready, or panics, drops it and leaves the
    /// result. The caller must hold the task.
    pub poll: unsafe fn(NonNull<Header>, &mut Context<'_>) -> Poll<()>,
    /// Drops the future and leaves an error. The caller must hold the task.
    pub cancel: unsafe fn(NonNull<Header>),
    /// Calls the scheduler. The caller must hold the task, and gives it up.
    pub schedule: unsafe fn(NonNull<Header>),
    /// Moves the result to where the second pointer points. The result must
    /// be there, and be the caller's.
    pub take_output: unsafe fn(NonNull<Header>, NonNull<()>),
    /// Drops the result, which must be there and be the caller's.
    pub drop_output: unsafe fn(NonNull<Header>),
    /// Frees the task, which must have ended and have no reference left.
    pub free: unsafe fn(NonNull<Header>),
}
// ANCHOR_END: vtable

/// What can be reached without knowing the future's type.
#[repr(C)]
pub struct Front<S> {
    header: Header,
    /// Dropped when the task ends; a waker may be there for long after that.
    scheduler: ManuallyDrop<S>,
}

#[repr(C)]
pub struct Cell<F: Future, S> {
    front: Front<S>,
    stage: UnsafeCell<Stage<F>>,
}

pub enum Stage<F: Future> {
    // --> Ended (`poll`, `cancel`)
    Future(F),
    // --> Gone (`take_output`, `drop_output`)
    Ended(Result<F::Output, JoinError>),
    Gone,
}

/// Puts a new task on the heap. It is held by the caller, and has a handle.
pub fn allocate<F, S>(future: F, scheduler: S) -> NonNull<Header>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
    S: Schedule,
{
    let cell = Cell {
        front: Front {
            header: Header {
                state: State::new(),
                vtable: Cell::<F, S>::VTABLE,
                queue_link: UnsafeCell::new(None),
                links: Links::new(),
                join_waker: UnsafeCell::new(None),
            },
            scheduler: ManuallyDrop::new(scheduler),
        },
        stage: UnsafeCell::new(Stage::Future(future)),
    };
    memory::put(cell, S::RECYCLES).cast()
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
    pub const VTABLE: &'static Vtable = &Vtable {
        poll: Self::poll,
        cancel: Self::cancel,
        schedule: Self::schedule,
        take_output: Self::take_output,
        drop_output: Self::drop_output,
        free: Self::free,
    };

    /// # Safety
    ///
    /// The caller must pass a task that was allocated as this type and that is
    /// not freed before `'a` is over.
    pub unsafe fn stage<'a>(task: NonNull<Header>) -> &'a UnsafeCell<Stage<F>> {
        let cell = task.cast::<Self>().as_ptr();
        // SAFETY: the pointer may be used for the whole cell, which is alive;
        // all else in the stage is behind its `UnsafeCell`.
        unsafe { &(*cell).stage }
    }

    /// # Safety
    ///
    /// As [`Vtable`] says. This holds for each function below.
    unsafe fn poll(task: NonNull<Header>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: the vtable is of this type, and the caller holds the task.
        let stage = unsafe { Self::stage(task) };
        let polled = catch_unwind(AssertUnwindSafe(|| {
            stage.with_mut(|stage| {
                // SAFETY: only the holder touches the stage.
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
                // Drops the future where it is. Should that panic, the output
                // is there nevertheless, for `end_by_panic` to drop.
                *stage = Stage::Ended(Ok(output));
                Poll::Ready(())
            })
        }));
        polled.unwrap_or_else(|payload| {
            // SAFETY: only the holder touches the stage.
            stage
                .with_mut(|stage| unsafe { &mut *stage }.end_by_panic(payload));
            Poll::Ready(())
        })
    }

    unsafe fn cancel(task: NonNull<Header>) {
        // SAFETY: the vtable is of this type, and the caller holds the task.
        let stage = unsafe { Self::stage(task) };
        stage.with_mut(|stage| {
            // SAFETY: only the holder touches the stage.
            let stage = unsafe { &mut *stage };
            let dropped = catch_unwind(AssertUnwindSafe(|| {
                *stage = Stage::Ended(Err(JoinError::cancelled()));
            }));
            if let Err(payload) = dropped {
                stage.end_by_panic(payload);
            }
        });
    }

    unsafe fn schedule(task: NonNull<Header>) {
        // SAFETY: the task's scheduler is an `S`, and the caller holds the
        // task and gives it up.
        unsafe { holder::schedule::<S>(task) };
    }

    unsafe fn take_output(task: NonNull<Header>, to: NonNull<()>) {
        // SAFETY: the vtable is of this type, and the result is there, so that
        // the task has not been freed.
        let stage = unsafe { Self::stage(task) };
        let stage = stage.with_mut(|stage| {
            // SAFETY: the stage is the caller's.
            mem::replace(unsafe { &mut *stage }, Stage::Gone)
        });
        let Stage::Ended(result) = stage else {
            unreachable!("a result is taken that is not there")
        };
        // SAFETY: the handle's type is that of the future's output, and it
        // passes the place where it wants it.
        unsafe { to.cast().write(result) };
    }

    unsafe fn drop_output(task: NonNull<Header>) {
        // SAFETY: as in `take_output`.
        let stage = unsafe { Self::stage(task) };
        // SAFETY: the stage is the caller's.
        stage.with_mut(|stage| unsafe { &mut *stage }.clear());
    }

    unsafe fn free(task: NonNull<Header>) {
        // SAFETY: the vtable is of this type, and nobody else has a reference.
        let stage = unsafe { Self::stage(task) };
        // SAFETY: as above. A model sees here whether this is so.
        stage.with_mut(|stage| unsafe { &mut *stage }.clear());
        // SAFETY: the task was put there with this type, and nobody will use
        // it again.
        unsafe { memory::remove(task.cast::<Self>(), S::RECYCLES) };
    }
}

impl<F: Future> Stage<F> {
    /// Replaces what has panicked, or what is left of it, by the error.
    #[cold]
    pub fn end_by_panic(&mut self, payload: Box<dyn std::any::Any + Send>) {
        self.clear();
        *self = Stage::Ended(Err(JoinError::panicked(payload)));
    }

    /// Drops what is there. Its panic is nobody's any more.
    fn clear(&mut self) {
        ignore_panics(|| *self = Stage::Gone);
    }
}

/// Runs `action`, and goes on if it panics.
pub fn ignore_panics(action: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(action)) {
        // What was thrown may panic in turn when it is dropped.
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(payload)));
        dropped.unwrap_or_else(mem::forget);
    }
}

/// Takes out what is linked behind a task.
///
/// # Safety
///
/// The caller must hold the task.
#[inline]
pub unsafe fn take_link(task: NonNull<Header>) -> Option<NonNull<Header>> {
    // SAFETY: the caller holds the task.
    let link = &unsafe { task.as_ref() }.queue_link;
    // SAFETY: as above.
    link.with_mut(|link| unsafe { &mut *link }.take())
}

/// Drops the scheduler of a task that has ended.
///
/// # Safety
///
/// The caller must hold the task, whose scheduler is an `S` and has not been
/// dropped, and must not use the scheduler again.
pub unsafe fn drop_scheduler<S>(task: NonNull<Header>) {
    let scheduler = scheduler_of::<S>(task);
    // SAFETY: the scheduler is there, and only the holder may touch it.
    ignore_panics(|| unsafe { ptr::drop_in_place(scheduler.as_ptr()) });
}
