//! Breaks clause 8: Wakers live on.
//! Caught by: a_waker_may_be_used_after_block_on_returned
//! Also fails: a_wake_up_counts_even_if_stores_arrive_late
//!
//! The waker borrows the thread's handle from a box that `block_on` owns.
//! That's enough while the call lasts, and needs no reference count.

use std::pin::pin;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};
use std::thread::{self, Thread};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let thread = Box::new(thread::current());
    // SAFETY: wrong, and this is the bug: a waker may outlive the box.
    let waker = unsafe { Waker::new((&raw const *thread).cast(), &VTABLE) };
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        thread::park();
    }
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake, |_| ());

fn clone(thread: *const ()) -> RawWaker {
    RawWaker::new(thread, &VTABLE)
}

fn wake(thread: *const ()) {
    // SAFETY: wrong, for the same reason: the box may be gone.
    unsafe { &*thread.cast::<Thread>() }.unpark();
}

#[cfg(test)]
#[path = "../../../exercises/01-block-on/src/tests/mod.rs"]
mod tests;
