//! Breaks clause 12: Wakers live on.
//! Caught by: a_waker_may_be_used_after_block_on_returned
//! Also fails: calls_of_block_on_leave_no_memory_behind
//!
//! `block_on` owns what it sleeps on, and its wakers only point there. While
//! the call lasts that is enough, and nothing need be counted.

use std::pin::pin;
use std::sync::{Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

pub use raw_waker::waker;

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let park = Box::new(Park::default());
    // SAFETY: wrong, and this is the bug: a waker may outlive the box.
    let waker = unsafe { Waker::new((&raw const *park).cast(), &VTABLE) };
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        park.wait();
    }
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(
    |park| RawWaker::new(park, &VTABLE),
    wake,
    wake,
    |_| (),
);

fn wake(park: *const ()) {
    // SAFETY: wrong, like the line above: the box may be gone.
    let park = unsafe { &*park.cast::<Park>() };
    *park.is_woken.lock().unwrap_or_else(PoisonError::into_inner) = true;
    park.woken.notify_one();
}

#[derive(Default)]
struct Park {
    is_woken: Mutex<bool>,
    woken: Condvar,
}

impl Park {
    fn wait(&self) {
        let is_woken =
            self.is_woken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_woken = self
            .woken
            .wait_while(is_woken, |is_woken| !*is_woken)
            .unwrap_or_else(PoisonError::into_inner);
        *is_woken = false;
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/03-raw-waker/src/tests/mod.rs"]
mod tests;
