//! What the holder of a task does with it: poll it, and then let it go,
//! schedule it again or end it.

use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

use super::cell::{self, Header, ignore_panics};
use super::runnable::Runnable;
use super::state::{Completed, Pending, Turn};
use super::{Schedule, owned, slot, waker, yields};

/// Polls the task once.
///
/// # Safety
///
/// The caller must hold the task, whose scheduler is an `S`, and gives it up.
/// This holds for each function below.
#[inline]
pub unsafe fn run<S: Schedule>(task: NonNull<Header>) {
    // SAFETY: the caller holds the task.
    if let Some(linked) = unsafe { cell::take_link(task) } {
        // A queue takes the next one out before. Left in, it would never end.
        // SAFETY: the caller held it, too.
        unsafe { give_up::<S>(linked) };
    }
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
        return unsafe { schedule_yielded::<S>(task) };
    }
    // SAFETY: the caller holds the task.
    if !unsafe { owned::enter::<S>(task) } {
        // SAFETY: passed on.
        return unsafe { cancel::<S>(task) };
    }
    match header.state.let_go() {
        Pending::Waits => {}
        // SAFETY: passed on.
        Pending::Notified => unsafe { schedule_yielded::<S>(task) },
        // SAFETY: passed on.
        Pending::Cancelled => unsafe { cancel::<S>(task) },
    }
}

// ANCHOR: schedule
/// Gives the task to its scheduler. To a copy: another thread may run the task
/// and free it before `schedule` returns.
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
// ANCHOR_END: schedule

/// As [`schedule`], for a task that has just run.
///
/// # Safety
///
/// As for [`run`].
#[inline]
unsafe fn schedule_yielded<S: Schedule>(task: NonNull<Header>) {
    // SAFETY: passed on.
    let task = unsafe { Runnable::<S>::from_header(task) };
    let scheduler = task.scheduler().clone();
    scheduler.schedule_yielded(task);
}

/// Drops the future, and ends the task with an error.
///
/// # Safety
///
/// As for [`run`].
#[cold]
pub unsafe fn cancel<S: Schedule>(task: NonNull<Header>) {
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
pub unsafe fn end<S: Schedule>(task: NonNull<Header>) {
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
            // SAFETY: our reference is not given back yet, and the handle has
            // left the slot to who completes the task.
            let waker = unsafe { slot::take(task) };
            // It is anybody's, and may panic.
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

/// Gives up a task that nobody will run, and what is linked behind it.
///
/// # Safety
///
/// As for [`run`].
pub unsafe fn give_up<S: Schedule>(task: NonNull<Header>) {
    let mut place = Some(task);
    // One by one: a queue may be long.
    while let Some(task) = place {
        // SAFETY: the caller holds the task, or the one in front of it did.
        place = unsafe { cell::take_link(task) };
        // SAFETY: as above.
        unsafe { cancel::<S>(task) };
    }
}
