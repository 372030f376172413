//! Another correct design, without `unsafe`: a call takes what the thread
//! keeps, and puts it back when the call ends, even by a panic.

use std::cell::Cell;
use std::pin::pin;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use parker::{Parker, Unparker};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let call = Call::start();
    let mut cx = Context::from_waker(&call.cache.waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        if !IS_WOKEN.with(|is_woken| is_woken.replace(false)) {
            call.cache.parker.park();
        }
    }
}

/// What a thread keeps from call to call.
struct ThreadCache {
    parker: Parker,
    waker: Waker,
    thread_waker: *const ThreadWaker,
}

primitives::thread_local! {
    /// Empty before the first call and while a call runs.
    static CACHE: Cell<Option<Rc<ThreadCache>>> = const { Cell::new(None) };
    /// The target of the running call's waker; null if no call runs.
    static RUNNING: Cell<*const ThreadWaker> = const { Cell::new(ptr::null()) };
    /// Whether the running call was woken on its own thread.
    static IS_WOKEN: Cell<bool> = const { Cell::new(false) };
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
        RUNNING.with(|running| running.set(cache.thread_waker));
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
        let parker = Parker::new();
        let thread_waker = Arc::new(ThreadWaker {
            unparker: parker.unparker(),
        });
        Rc::new(Self {
            parker,
            thread_waker: Arc::as_ptr(&thread_waker),
            waker: Waker::from(thread_waker),
        })
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
