//! A future that keeps its waker, and clones it only for a new task.

use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::task::{RawWaker, RawWakerVTable, Waker};

static CLONES: AtomicU32 = AtomicU32::new(0);

/// For wakers whose clones have the same table.
static ONE: RawWakerVTable =
    RawWakerVTable::new(|data| clone(data, &ONE), |_| (), |_| (), |_| ());

/// For wakers whose clones have a table of their own.
static ANOTHER: RawWakerVTable =
    RawWakerVTable::new(|data| clone(data, &ONE), |_| (), |_| (), |_| ());

fn clone(data: *const (), vtable: &'static RawWakerVTable) -> RawWaker {
    CLONES.fetch_add(1, Relaxed);
    RawWaker::new(data, vtable)
}

/// What a careful future does in each poll.
fn poll(kept: &mut Waker, current: &Waker) {
    if !kept.will_wake(current) {
        *kept = current.clone();
    }
}

fn main() {
    for (vtables, vtable) in [("one", &ONE), ("two", &ANOTHER)] {
        // SAFETY: the functions don't touch the pointer.
        let current = unsafe { Waker::new(ptr::null(), vtable) };
        let mut kept = Waker::noop().clone();
        CLONES.store(0, Relaxed);
        for _ in 0..100 {
            poll(&mut kept, &current);
        }
        let clones = CLONES.load(Relaxed);
        println!("{vtables} vtable(s), 100 polls: {clones} clone(s)");
    }
}
