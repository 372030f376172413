//! Breaks clause 5: Same waker.
//! Caught by: wakers_of_two_targets_differ
//! Also fails: after_any_calls_the_counts_are_right
//!
//! Avoids `unsafe` on pointers: the wakers' targets are in a table, and the
//! pointer is only a target's number in it. The next number is the number of
//! targets so far. Once an old target has gone, a living one already has that
//! number.

use std::collections::HashMap;
use std::ptr;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::{RawWaker, RawWakerVTable, Wake, Waker};

pub use raw_waker::block_on;

/// A target of any type, and the number of its wakers.
struct Entry {
    target: Arc<dyn Target>,
    waker_count: usize,
}

trait Target: Send + Sync {
    fn wake(self: Arc<Self>);
    fn wake_by_ref(self: Arc<Self>);
}

impl<W: Wake + Send + Sync> Target for W {
    fn wake(self: Arc<Self>) {
        Wake::wake(self);
    }

    fn wake_by_ref(self: Arc<Self>) {
        Wake::wake_by_ref(&self);
    }
}

static TARGETS: LazyLock<Mutex<HashMap<usize, Entry>>> =
    LazyLock::new(Mutex::default);

fn targets() -> MutexGuard<'static, HashMap<usize, Entry>> {
    TARGETS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates a waker that wakes `target`.
pub fn waker<W: Wake + Send + Sync + 'static>(target: Arc<W>) -> Waker {
    let mut targets = targets();
    let number = targets.len();
    let waker_count = 1;
    let entry = Entry {
        target,
        waker_count,
    };
    targets.insert(number, entry);
    // SAFETY: the vtable's functions treat the pointer as a number.
    unsafe { Waker::new(ptr::without_provenance(number), &VTABLE) }
}

static VTABLE: RawWakerVTable =
    RawWakerVTable::new(clone, wake, wake_by_ref, release);

fn clone(number: *const ()) -> RawWaker {
    if let Some(entry) = targets().get_mut(&number.addr()) {
        entry.waker_count += 1;
    }
    RawWaker::new(number, &VTABLE)
}

fn wake(number: *const ()) {
    let target = target(number);
    release(number);
    if let Some(target) = target {
        target.wake();
    }
}

fn wake_by_ref(number: *const ()) {
    if let Some(target) = target(number) {
        target.wake_by_ref();
    }
}

fn release(number: *const ()) {
    // Outside the lock: the target's destructor may drop wakers.
    drop(take_if_last(number.addr()));
}

fn take_if_last(number: usize) -> Option<Entry> {
    let mut targets = targets();
    let entry = targets.get_mut(&number)?;
    entry.waker_count -= 1;
    if entry.waker_count > 0 {
        return None;
    }
    targets.remove(&number)
}

fn target(number: *const ()) -> Option<Arc<dyn Target>> {
    Some(targets().get(&number.addr())?.target.clone())
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/03-raw-waker/src/tests/mod.rs"]
mod tests;
