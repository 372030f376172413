//! The cell for the waker of the task that awaits the handle.
//!
//! The handle writes it, and then sets `JOIN_WAKER`: from then on the waker
//! cell belongs to the task. To write it again, the handle first takes the flag
//! back. The thread that completes the task checks the flag in the same step,
//! so that the two never touch the waker cell at once.

use std::ptr::NonNull;
use std::task::{RawWaker, Waker};

use super::header::Header;

// ANCHOR: store
/// Leaves the handle's waker with the task. Returns `true` if the task is
/// complete, in which case the waker may have come too late.
///
/// `published` is the waker that was left before, only for comparison. It isn't
/// the one that was passed then, which may be gone, with another waker in its
/// place.
///
/// # Safety
///
/// The caller must be the handle of the task, and alive.
pub unsafe fn store(
    task: NonNull<Header>,
    published: &mut Option<RawWaker>,
    waker: &Waker,
) -> bool {
    // SAFETY: the handle's reference keeps the task alive.
    let Header {
        state, join_waker, ..
    } = unsafe { task.as_ref() };
    // The task had it while it wasn't complete. Both are alive, so the same
    // address means the same waker.
    let passed = RawWaker::new(waker.data(), waker.vtable());
    if published.as_ref() == Some(&passed) {
        return false;
    }
    // Before anything is changed: it is foreign code, and may panic.
    let waker = waker.clone();
    // The clone is what stays alive, and needn't be where the original is.
    let left = RawWaker::new(waker.data(), waker.vtable());
    if published.take().is_some() && state.withdraw_waker() {
        return true;
    }
    // SAFETY: the waker cell is the handle's: `JOIN_WAKER` isn't set.
    let before =
        join_waker.with_mut(|slot| unsafe { &mut *slot }.replace(waker));
    if state.publish_waker() {
        // SAFETY: the waker cell is still ours: the task was already complete.
        drop(unsafe { take(task) });
        return true;
    }
    *published = Some(left);
    // Last, because it may panic, too.
    drop(before);
    false
}
// ANCHOR_END: store

/// Takes the waker out.
///
/// # Safety
///
/// The task must be alive, and the waker cell the caller's.
pub unsafe fn take(task: NonNull<Header>) -> Option<Waker> {
    // SAFETY: the task is alive.
    let slot = &unsafe { task.as_ref() }.join_waker;
    // SAFETY: the waker cell is the caller's.
    slot.with_mut(|slot| unsafe { &mut *slot }.take())
}
