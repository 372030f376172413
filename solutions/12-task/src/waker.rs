//! The wakers of a task.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::task::{RawWaker, RawWakerVTable, Waker};

use super::header::{Header, Vtable};
use super::state::Woken;

/// A single vtable for all tasks, so that `will_wake` sees the same waker in
/// two clones.
static VTABLE: RawWakerVTable =
    RawWakerVTable::new(clone, wake, wake_by_ref, release);

/// Makes the waker for a poll. It has no reference of its own: it borrows the
/// task's reference, because the task isn't complete during the poll.
///
/// # Safety
///
/// The caller must not use it when the task may have been freed.
#[inline]
pub unsafe fn borrowed(task: NonNull<Header>) -> ManuallyDrop<Waker> {
    // SAFETY: the vtable's functions keep the contract of `RawWakerVTable`,
    // see there; the waker is never dropped, so it needs no reference.
    ManuallyDrop::new(unsafe { Waker::from_raw(raw(task)) })
}

/// Returns `true` if `waker` is one of this task.
#[inline]
pub fn is_of(waker: &Waker, task: *const ()) -> bool {
    waker.data() == task && std::ptr::eq(waker.vtable(), &VTABLE)
}

#[inline]
fn raw(task: NonNull<Header>) -> RawWaker {
    RawWaker::new(task.as_ptr().cast_const().cast(), &VTABLE)
}

/// # Safety
///
/// The caller must pass the pointer of a waker whose reference isn't given back
/// before the end of `'a`. This holds for each function below.
#[inline]
unsafe fn header<'a>(task: *const ()) -> &'a Header {
    // SAFETY: the pointer is that of a task, which the reference keeps alive.
    unsafe { &*task.cast() }
}

#[inline]
fn pointer(task: *const ()) -> NonNull<Header> {
    // SAFETY: it came from a `NonNull`, in `raw`.
    unsafe { NonNull::new_unchecked(task.cast_mut().cast()) }
}

/// # Safety
///
/// As for [`header`].
pub unsafe fn clone(task: *const ()) -> RawWaker {
    // SAFETY: the waker that is cloned is there.
    unsafe { header(task) }.state.retain();
    raw(pointer(task))
}

/// # Safety
///
/// As for [`header`].
pub unsafe fn wake_by_ref(task: *const ()) {
    // SAFETY: the waker is there.
    let Header { state, vtable, .. } = unsafe { header(task) };
    let woken = state.wake_by_ref();
    // SAFETY: passed on.
    unsafe { follow_up(woken, pointer(task), vtable) };
}

/// # Safety
///
/// As for [`header`]; the waker must not be used again.
pub unsafe fn wake(task: *const ()) {
    // SAFETY: the waker is there, until its reference is given back.
    let Header { state, vtable, .. } = unsafe { header(task) };
    // Read before that.
    let vtable: &'static Vtable = vtable;
    let woken = state.wake_by_value();
    // SAFETY: passed on.
    unsafe { follow_up(woken, pointer(task), vtable) };
}

/// # Safety
///
/// As for [`header`]; the waker must not be used again.
pub unsafe fn release(task: *const ()) {
    // SAFETY: the waker is there.
    let Header { state, vtable, .. } = unsafe { header(task) };
    if state.release() {
        // SAFETY: it was the last reference, so the task has ended: its own
        // reference is given back by then.
        unsafe { (vtable.free)(pointer(task)) };
    }
}

/// Does what is left to do. It gets no reference to the task, which may be
/// freed meanwhile.
///
/// # Safety
///
/// The caller must pass what the task's state has just returned.
#[inline]
unsafe fn follow_up(
    woken: Woken,
    task: NonNull<Header>,
    vtable: &'static Vtable,
) {
    match woken {
        Woken::Nothing => {}
        // SAFETY: we have the running task, and give it up.
        Woken::Schedule => unsafe { (vtable.schedule)(task) },
        // SAFETY: ours was the last reference, so the task has ended.
        Woken::Free => unsafe { (vtable.free)(task) },
    }
}
