//! Breaks clause 3: No lost wake-up.
//! Caught by: models::a_wake_from_another_thread_counts_in_every_order
//! Order: a data race
//! Also fails: thousands_of_wakes_between_two_threads_all_arrive
//! Also fails: models::a_wake_here_and_one_from_elsewhere_both_count
//! Also fails: models::what_each_of_two_threads_wrote_is_seen
//! Also fails: models::a_stale_wake_up_does_not_disturb_a_later_call
//!
//! One plain flag for all wake-ups: other threads write it too, and then
//! unpark. Nearly every run passes every test. However, nothing orders their
//! write and the reads and writes here, and the compiler may keep the flag in a
//! register.

// ANCHOR: bug
use std::cell::Cell;
use std::pin::pin;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use primitives::UnsafeCell;
use primitives::thread::{self, Thread};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let call = Call::start();
    let mut cx = Context::from_waker(&call.cache.waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        while !call.cache.thread_waker.take() {
            thread::park();
        }
    }
}

/// What a thread keeps from call to call.
struct ThreadCache {
    thread_waker: Arc<ThreadWaker>,
    waker: Waker,
}

primitives::thread_local! {
    /// Empty before the first call and while a call runs.
    static CACHE: Cell<Option<Rc<ThreadCache>>> = const { Cell::new(None) };
    /// The target of the running call's waker; null if no call runs.
    static RUNNING: Cell<*const ThreadWaker> = const { Cell::new(ptr::null()) };
}

/// A running call. When it's dropped, it puts back what it has taken.
struct Call {
    cache: Rc<ThreadCache>,
}

impl Call {
    fn start() -> Self {
        let is_running = RUNNING.with(|running| !running.get().is_null());
        assert!(!is_running, "recursive `block_on`");
        // Fails if the thread is ending and its cache is gone.
        let cache = CACHE.try_with(Cell::take).ok().flatten();
        let cache = cache.unwrap_or_else(ThreadCache::new);
        RUNNING.with(|running| running.set(Arc::as_ptr(&cache.thread_waker)));
        Self { cache }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        RUNNING.with(|running| running.set(ptr::null()));
        let _ = CACHE.try_with(|cache| cache.set(Some(self.cache.clone())));
    }
}

impl ThreadCache {
    fn new() -> Rc<Self> {
        let thread_waker = Arc::new(ThreadWaker {
            is_woken: UnsafeCell::new(false),
            thread: thread::current(),
        });
        let waker = Waker::from(thread_waker.clone());
        Rc::new(Self {
            thread_waker,
            waker,
        })
    }
}

struct ThreadWaker {
    // ANCHOR: guilty
    is_woken: UnsafeCell<bool>,
    // ANCHOR_END: guilty
    thread: Thread,
}

// SAFETY: a `bool` is written as a whole, so no thread reads half of one.
// ANCHOR: guilty_2
unsafe impl Sync for ThreadWaker {}
// ANCHOR_END: guilty_2
// SAFETY: a flag and a handle may move to any thread.
unsafe impl Send for ThreadWaker {}

impl ThreadWaker {
    /// Consumes the wake-up. Returns `true` if there was one.
    fn take(&self) -> bool {
        // SAFETY: a `bool` is read and written as a whole.
        self.is_woken
            // ANCHOR: guilty_3
            .with_mut(|is_woken| unsafe { is_woken.replace(false) })
            // ANCHOR_END: guilty_3
    }

    fn set(&self) {
        // SAFETY: a `bool` is read and written as a whole.
        self.is_woken
            // ANCHOR: guilty_4
            .with_mut(|is_woken| unsafe { is_woken.write(true) });
            // ANCHOR_END: guilty_4
    }
}

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let running = RUNNING.try_with(Cell::get).unwrap_or(ptr::null());
        self.set();
        // A thread that polls isn't parked.
        if !ptr::eq(running, &**self) {
            self.thread.unpark();
        }
    }
}
// ANCHOR_END: bug

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/04-cached-block-on/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/04-cached-block-on/src/tests/mod.rs"]
mod tests;
