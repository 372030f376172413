//! Breaks clause 3: No lost wake-up.
//! Caught by: models::a_wake_here_and_one_from_elsewhere_both_count
//!
//! The coming poll answers both kinds of wake-up, so both flags are lowered,
//! the atomic one by a cheap store. A store does not look at what it
//! overwrites: the poll need not see what the other thread wrote.

use std::cell::Cell;
use std::pin::pin;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use sync::atomic::{AtomicBool, Ordering};
use sync::thread::{self, Thread};

use Ordering::{Acquire, Relaxed, Release};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let call = Call::start();
    let mut cx = Context::from_waker(&call.kept.waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        if IS_WOKEN.with(|is_woken| is_woken.replace(false)) {
            // Relaxed: only this thread lowers the flag.
            call.kept.signal.is_woken.store(false, Relaxed);
        } else {
            call.kept.signal.wait();
        }
    }
}

/// What a thread keeps from call to call.
struct Kept {
    signal: Arc<Signal>,
    waker: Waker,
}

sync::thread_local! {
    /// Empty before the first call and while a call runs.
    static KEPT: Cell<Option<Rc<Kept>>> = const { Cell::new(None) };
    /// The target of the running call's waker; null if no call runs.
    static RUNNING: Cell<*const Signal> = const { Cell::new(ptr::null()) };
    /// Whether the running call was woken on its own thread.
    static IS_WOKEN: Cell<bool> = const { Cell::new(false) };
}

/// A call that runs. Its end puts back what it has taken.
struct Call {
    kept: Rc<Kept>,
}

impl Call {
    fn start() -> Self {
        let is_running = RUNNING.with(|running| !running.get().is_null());
        assert!(!is_running, "recursive `block_on`");
        // Fails when the thread ends and its cache is gone.
        let kept = KEPT.try_with(Cell::take).ok().flatten();
        let kept = kept.unwrap_or_else(Kept::new);
        RUNNING.with(|running| running.set(Arc::as_ptr(&kept.signal)));
        Self { kept }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        RUNNING.with(|running| running.set(ptr::null()));
        let _ = KEPT.try_with(|kept| kept.set(Some(self.kept.clone())));
    }
}

impl Kept {
    fn new() -> Rc<Self> {
        let signal = Arc::new(Signal {
            is_woken: AtomicBool::new(false),
            thread: thread::current(),
        });
        let waker = Waker::from(signal.clone());
        Rc::new(Self { signal, waker })
    }
}

/// What other threads set.
struct Signal {
    is_woken: AtomicBool,
    thread: Thread,
}

impl Signal {
    /// Sleeps until woken, and takes the wake-up.
    fn wait(&self) {
        // Acquire: pairs with the Release in `wake_by_ref`.
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
        let running = RUNNING.try_with(Cell::get).unwrap_or(ptr::null());
        if ptr::eq(running, &**self) {
            IS_WOKEN.with(|is_woken| is_woken.set(true));
        } else {
            // Release: pairs with the Acquire in `wait`.
            self.is_woken.swap(true, Release);
            self.thread.unpark();
        }
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/04-cached-block-on/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/04-cached-block-on/src/tests/mod.rs"]
mod tests;
