//! Another correct design: an atomic flag for other threads, with
//! `thread::park` only for the sleep. A thread recognizes its own signal by the
//! signal's address.

use std::cell::{Cell, OnceCell};
use std::pin::{Pin, pin};
use std::ptr;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use primitives::atomic::{AtomicBool, Ordering};
use primitives::thread::{self, Thread};

use Ordering::{Acquire, Release};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let is_running = IS_RUNNING.with(|is_running| is_running.replace(true));
    assert!(!is_running, "recursive `block_on`");
    let _running = Running;
    let cached = CACHE.try_with(|cache| {
        drive(cache.get_or_init(Cached::new), future.as_mut())
    });
    // While the thread ends, the cache may be gone.
    cached.unwrap_or_else(|_gone| drive(&Cached::new(), future))
}

fn drive<F: Future>(cached: &Cached, mut future: Pin<&mut F>) -> F::Output {
    let mut cx = Context::from_waker(&cached.waker);
    // A flag that was set between two calls asks for no poll. (The signal's
    // flag may cost one.)
    IS_WOKEN.with(|is_woken| is_woken.set(false));
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        if !IS_WOKEN.with(|is_woken| is_woken.replace(false)) {
            cached.signal.wait();
        }
    }
}

struct Cached {
    signal: Arc<Signal>,
    waker: Waker,
}

primitives::thread_local! {
    static CACHE: OnceCell<Cached> = const { OnceCell::new() };
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
    static IS_WOKEN: Cell<bool> = const { Cell::new(false) };
    static SIGNAL: Cell<*const Signal> = const { Cell::new(ptr::null()) };
}

/// Marks the thread as running a call until it is dropped.
struct Running;

impl Drop for Running {
    fn drop(&mut self) {
        IS_RUNNING.with(|is_running| is_running.set(false));
    }
}

impl Cached {
    fn new() -> Self {
        let signal = Arc::new(Signal {
            is_woken: AtomicBool::new(false),
            thread: thread::current(),
        });
        SIGNAL.with(|own| own.set(Arc::as_ptr(&signal)));
        let waker = Waker::from(signal.clone());
        Self { signal, waker }
    }
}

impl Drop for Cached {
    fn drop(&mut self) {
        // Another thread's signal may be allocated at the same address.
        let _ = SIGNAL.try_with(|own| own.set(ptr::null()));
    }
}

/// The flag that other threads set.
struct Signal {
    is_woken: AtomicBool,
    thread: Thread,
}

impl Signal {
    /// Sleeps until woken, and consumes the wake-up.
    fn wait(&self) {
        // Acquire: pairs with the Release in `wake_by_ref`; the poll sees what the waking threads wrote.
        while !self.is_woken.swap(false, Acquire) {
            thread::park();
        }
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if SIGNAL.with(|own| ptr::eq(own.get(), &**self)) {
            IS_WOKEN.with(|is_woken| is_woken.set(true));
            return;
        }
        // Release: pairs with the Acquire in `wait`. A swap, so that earlier
        // wake-ups stay visible too.
        self.is_woken.swap(true, Release);
        self.thread.unpark();
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/04-cached-block-on/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/04-cached-block-on/src/tests/mod.rs"]
mod tests;
