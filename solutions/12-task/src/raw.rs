//! A new task, assembled from its parts.

use std::ptr::NonNull;

use primitives::UnsafeCell;

use super::cell::Cell;
use super::header::{Header, Links, Vtable};
use super::state::State;
use super::{Runnable, Schedule, memory};

/// Puts a new task on the heap. The caller gets the right to run it, and its
/// handle.
#[inline]
pub fn allocate<F, S>(future: F, scheduler: S) -> NonNull<Header>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
    S: Schedule,
{
    let header = Header {
        state: State::new(),
        vtable: &Cell::<F, S>::VTABLE,
        queue_link: UnsafeCell::new(None),
        links: Links::new(),
        join_waker: UnsafeCell::new(None),
    };
    let place = memory::place(S::RECYCLES);
    // SAFETY: the place is ours, and for a cell of this type.
    unsafe { Cell::<F, S>::write(place, header, scheduler, future) };
    place.cast()
}

impl<F, S> Cell<F, S>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
    S: Schedule,
{
    const VTABLE: Vtable = Vtable {
        poll: Self::poll,
        cancel: Self::cancel,
        schedule: schedule::<S>,
        take_output: Self::take_output,
        drop_output: Self::drop_output,
        free: Self::free,
    };
}

/// # Safety
///
/// As [`Vtable`] says: the scheduler of the task is an `S`.
unsafe fn schedule<S: Schedule>(task: NonNull<Header>) {
    // SAFETY: the caller has the right to run the task, and gives it up.
    unsafe { Runnable::<S>::from_header(task) }.schedule();
}
