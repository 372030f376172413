//! Another correct design: the vtable is a constant of a trait that each target
//! implements, the four functions are closures, and `clone` clones the `Arc`.
//! Its `block_on` sleeps with `thread::park`, and has a flag besides the token.

use std::mem::ManuallyDrop;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
use std::thread::{self, Thread};

use Ordering::{Acquire, Release};

/// Creates a waker that wakes `target`.
pub fn waker<W: Wake + Send + Sync + 'static>(target: Arc<W>) -> Waker {
    // SAFETY: the pointer owns a count of the `Arc`, which is what `VTABLE` works on.
    unsafe { Waker::from_raw(target.into_raw_waker()) }
}

trait IntoRawWaker {
    const VTABLE: RawWakerVTable;

    fn into_raw_waker(self) -> RawWaker;
}

impl<W: Wake + Send + Sync + 'static> IntoRawWaker for Arc<W> {
    const VTABLE: RawWakerVTable = RawWakerVTable::new(
        |target| {
            // SAFETY: the waker that is being cloned owns the pointer's count,
            // and keeps it.
            let target = unsafe { borrow::<W>(target) };
            Arc::clone(&target).into_raw_waker()
        },
        // SAFETY: the waker is consumed, and its count is passed on.
        |target| W::wake(unsafe { Arc::from_raw(target.cast()) }),
        // SAFETY: the waker owns the pointer's count, and keeps it.
        |target| unsafe { borrow::<W>(target) }.wake_by_ref(),
        // SAFETY: the waker is consumed, and its count is given back.
        |target| drop(unsafe { Arc::<W>::from_raw(target.cast()) }),
    );

    #[inline(never)]
    fn into_raw_waker(self) -> RawWaker {
        RawWaker::new(Arc::into_raw(self).cast(), &Self::VTABLE)
    }
}

/// # Safety
///
/// The caller must pass a pointer from `Arc::<W>::into_raw` whose count lasts
/// as long as the returned value.
unsafe fn borrow<W>(target: *const ()) -> ManuallyDrop<Arc<W>> {
    // SAFETY: guaranteed by the caller; the count isn't given back.
    ManuallyDrop::new(unsafe { Arc::from_raw(target.cast()) })
}

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let sleeper = Arc::new(Sleeper {
        is_woken: AtomicBool::new(false),
        thread: thread::current(),
    });
    let waker = waker(sleeper.clone());
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        // Acquire: pairs with the Release in `wake_by_ref`; the poll sees what the waking thread wrote.
        while !sleeper.is_woken.swap(false, Acquire) {
            thread::park();
        }
    }
}

struct Sleeper {
    is_woken: AtomicBool,
    thread: Thread,
}

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Release: pairs with the Acquire in `block_on`. A swap rather than a
        // store, so that earlier wake-ups stay visible too.
        self.is_woken.swap(true, Release);
        self.thread.unpark();
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/03-raw-waker/src/tests/mod.rs"]
mod tests;
