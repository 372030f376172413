//! Breaks clause 12: Wakers live on.
//! Caught by: a_waker_may_be_used_after_block_on_returned
//! Also fails: thousands_of_wakes_between_two_threads_all_arrive
//! Also fails: models::a_wake_up_counts_and_publishes_in_every_order
//! Also fails: models::what_each_of_two_wakers_wrote_is_seen
//!
//! The waker points at an unparker that `block_on` owns, and a clone of it
//! costs nothing. It is freed when the call returns, and a late wake-up uses it
//! all the same.

use std::pin::pin;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

pub use parker::{Parker, Unparker};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let parker = Parker::new();
    // In a box, so that its address stays the same.
    let unparker = Box::new(parker.unparker());
    // SAFETY: the functions of `VTABLE` expect a pointer to an `Unparker`.
    let waker = unsafe { Waker::from_raw(waker_of(&unparker)) };
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        parker.park();
    }
}

fn waker_of(unparker: &Unparker) -> RawWaker {
    RawWaker::new((&raw const *unparker).cast(), &VTABLE)
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake, drop);

unsafe fn clone(unparker: *const ()) -> RawWaker {
    RawWaker::new(unparker, &VTABLE)
}

unsafe fn wake(unparker: *const ()) {
    // SAFETY: wrong! Nothing says that `block_on` has not returned.
    let unparker: &Unparker = unsafe { &*unparker.cast() };
    unparker.unpark();
}

unsafe fn drop(_unparker: *const ()) {}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/02-parker/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/02-parker/src/tests/mod.rs"]
mod tests;
