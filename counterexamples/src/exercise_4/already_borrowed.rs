//! Breaks clause 8: No recursion.
//! Caught by: a_recursive_call_panics_and_says_so
//! Also fails: a_recursive_call_while_the_thread_ends_panics
//!
//! A `RefCell` finds the recursion by itself, so why look for it? Because the
//! reader of its message looks for a `RefCell` that they have not got.

use std::cell::{Cell, RefCell};
use std::pin::{Pin, pin};
use std::ptr;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use parker::{Parker, Unparker};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let cached = CACHE.try_with(|cache| {
        let mut cache = cache.borrow_mut();
        drive(cache.get_or_insert_with(ThreadCache::new), future.as_mut())
    });
    // The cache is gone when the thread ends.
    cached.unwrap_or_else(|_gone| drive(&ThreadCache::new(), future))
}

fn drive<F: Future>(cache: &ThreadCache, mut future: Pin<&mut F>) -> F::Output {
    let _running = Running::start(cache);
    let mut cx = Context::from_waker(&cache.waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        if !IS_WOKEN.with(|is_woken| is_woken.replace(false)) {
            cache.parker.park();
        }
    }
}

/// What a thread keeps from call to call.
struct ThreadCache {
    parker: Parker,
    waker: Waker,
    thread_waker: *const ThreadWaker,
}

sync::thread_local! {
    /// Borrowed while a call runs.
    static CACHE: RefCell<Option<ThreadCache>> = const { RefCell::new(None) };
    /// The target of the running call's waker; null if no call runs.
    static RUNNING: Cell<*const ThreadWaker> = const { Cell::new(ptr::null()) };
    /// Whether the running call was woken on its own thread.
    static IS_WOKEN: Cell<bool> = const { Cell::new(false) };
}

/// Names the target of the running call until it is dropped.
struct Running;

impl Running {
    fn start(cache: &ThreadCache) -> Self {
        RUNNING.with(|running| running.set(cache.thread_waker));
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.with(|running| running.set(ptr::null()));
    }
}

impl ThreadCache {
    fn new() -> Self {
        let parker = Parker::new();
        let thread_waker = Arc::new(ThreadWaker {
            unparker: parker.unparker(),
        });
        Self {
            parker,
            thread_waker: Arc::as_ptr(&thread_waker),
            waker: Waker::from(thread_waker),
        }
    }
}

struct ThreadWaker {
    unparker: Unparker,
}

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let running = RUNNING.try_with(Cell::get).unwrap_or(ptr::null());
        if ptr::eq(running, &**self) {
            IS_WOKEN.with(|is_woken| is_woken.set(true));
        } else {
            self.unparker.unpark();
        }
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/04-cached-block-on/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/04-cached-block-on/src/tests/mod.rs"]
mod tests;
