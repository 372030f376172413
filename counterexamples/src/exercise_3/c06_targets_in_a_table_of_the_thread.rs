//! Breaks clause 6: Any thread.
//! Caught by: a_waker_works_on_a_thread_that_did_not_make_it
//! Also fails: threads_may_clone_wake_and_drop_at_once
//! Also fails: two_threads_use_up_their_wakers_at_once
//!
//! Avoids `unsafe` on pointers: the wakers' targets are in a table, and the
//! pointer is only a target's number in it. The table is thread-local, so that
//! it needs no lock, and on another thread the number means nothing.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ptr;
use std::sync::Arc;
use std::task::{RawWaker, RawWakerVTable, Wake, Waker};

pub use raw_waker::block_on;

/// A target of any type, and the number of its wakers.
struct Entry {
    target: Arc<dyn Target>,
    waker_count: usize,
}

trait Target {
    fn wake(self: Arc<Self>);
    fn wake_by_ref(self: Arc<Self>);
}

impl<W: Wake> Target for W {
    fn wake(self: Arc<Self>) {
        Wake::wake(self);
    }

    fn wake_by_ref(self: Arc<Self>) {
        Wake::wake_by_ref(&self);
    }
}

thread_local! {
    static TARGETS: RefCell<HashMap<usize, Entry>> = RefCell::default();
    static NEXT: Cell<usize> = const { Cell::new(1) };
}

/// Creates a waker that wakes `target`.
pub fn waker<W: Wake + Send + Sync + 'static>(target: Arc<W>) -> Waker {
    let number = NEXT.replace(NEXT.get() + 1);
    let waker_count = 1;
    let entry = Entry {
        target,
        waker_count,
    };
    TARGETS.with_borrow_mut(|targets| targets.insert(number, entry));
    // SAFETY: the vtable's functions treat the pointer as a number.
    unsafe { Waker::new(ptr::without_provenance(number), &VTABLE) }
}

static VTABLE: RawWakerVTable =
    RawWakerVTable::new(clone, wake, wake_by_ref, release);

fn clone(number: *const ()) -> RawWaker {
    TARGETS.with_borrow_mut(|targets| {
        if let Some(entry) = targets.get_mut(&number.addr()) {
            entry.waker_count += 1;
        }
    });
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
    let last = TARGETS.with_borrow_mut(|targets| {
        let entry = targets.get_mut(&number.addr())?;
        entry.waker_count -= 1;
        if entry.waker_count > 0 {
            return None;
        }
        targets.remove(&number.addr())
    });
    // Outside the borrow: the target's destructor may drop wakers.
    drop(last);
}

fn target(number: *const ()) -> Option<Arc<dyn Target>> {
    TARGETS.with_borrow(|targets| {
        Some(targets.get(&number.addr())?.target.clone())
    })
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/03-raw-waker/src/tests/mod.rs"]
mod tests;
