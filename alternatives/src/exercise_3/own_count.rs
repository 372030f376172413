//! Another correct design: a count of its own. All wakers of a target share one
//! box, which has the target's `Arc` and the count of these wakers. The box
//! knows the type of the target, so a single `static` vtable serves all types.

use std::ptr;
use std::sync::Arc;
use std::task::{RawWaker, RawWakerVTable, Wake, Waker};

use primitives::UnsafeCell;
use primitives::atomic::{AtomicUsize, Ordering, fence};

use Ordering::{Acquire, Relaxed, Release};

pub use raw_waker::block_on;

/// Creates a waker that wakes `target`.
pub fn waker<W: Wake + Send + Sync + 'static>(target: Arc<W>) -> Waker {
    let shared = Box::into_raw(Box::new(Shared {
        waker_count: AtomicUsize::new(1),
        target: UnsafeCell::new(Some(target)),
    }));
    // SAFETY: an atomic count governs the sharing of the box, and what it holds
    // is `Send` and `Sync`.
    unsafe { Waker::new(shared.cast(), &VTABLE) }
}

struct Shared {
    waker_count: AtomicUsize,
    /// Read by all wakers, and emptied by the last. In a cell, so that a model
    /// sees each access.
    target: UnsafeCell<Option<Arc<dyn Target>>>,
}

impl Shared {
    fn target(&self) -> Arc<dyn Target> {
        let target = self.target.with(|target| {
            // SAFETY: the caller has a waker, and the target is taken out only
            // when there are none left.
            unsafe { (*target).clone() }
        });
        target.expect(
            "only the last waker takes the target, and this one is alive",
        )
    }
}

/// A version of [`Wake`] that can be a trait object.
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

static VTABLE: RawWakerVTable =
    RawWakerVTable::new(clone, wake, wake_by_ref, release);

/// # Safety
///
/// The caller must pass the pointer of a living waker.
unsafe fn shared<'a>(data: *const ()) -> &'a Shared {
    // SAFETY: a living waker is counted, and keeps the box alive.
    unsafe { &*data.cast() }
}

/// # Safety
///
/// The caller must pass the pointer of a living waker.
unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: guaranteed by the caller.
    let shared = unsafe { shared(data) };
    // Relaxed: the waker that is being cloned keeps the box alive meanwhile.
    shared.waker_count.fetch_add(1, Relaxed);
    RawWaker::new(data, &VTABLE)
}

/// # Safety
///
/// The caller must pass the pointer of a living waker, and not use it again.
unsafe fn wake(data: *const ()) {
    // SAFETY: guaranteed by the caller.
    let target = unsafe { shared(data) }.target();
    // SAFETY: guaranteed by the caller.
    unsafe { release(data) };
    // Last, since it may panic.
    target.wake();
}

/// # Safety
///
/// The caller must pass the pointer of a living waker.
unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: guaranteed by the caller.
    unsafe { shared(data) }.target().wake_by_ref();
}

/// # Safety
///
/// The caller must pass the pointer of a living waker, and not use it again.
unsafe fn release(data: *const ()) {
    // SAFETY: guaranteed by the caller.
    let shared = unsafe { shared(data) };
    // Release: pairs with the fence below, so that what this thread did with
    // the box happens before it's freed.
    if shared.waker_count.fetch_sub(1, Release) == 1 {
        // Acquire: pairs with the Release above, on each thread that gave up a waker.
        fence(Acquire);
        // SAFETY: this was the last waker, so nothing else reads the target.
        let target = shared.target.with_mut(|it| unsafe { (*it).take() });
        // SAFETY: the box came from `Box::into_raw`, and no waker points at it
        // anymore.
        drop(unsafe { Box::from_raw(ptr::from_ref(shared).cast_mut()) });
        drop(target);
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/03-raw-waker/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/03-raw-waker/src/tests/mod.rs"]
mod tests;
