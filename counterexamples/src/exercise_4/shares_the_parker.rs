//! Breaks clause 8: No recursion.
//! Caught by: a_recursive_call_panics_and_says_so
//! Also fails: a_recursive_call_while_the_thread_ends_panics
//!
//! Text 1's third version. A call within a call waits on the same parker. It
//! seems to work; but the inner one takes the tokens that were meant for the
//! outer one, which then sleeps for ever.

use std::cell::{Cell, OnceCell};
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
    let mut cx = Context::from_waker(&call.kept.waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        if !IS_WOKEN.with(|is_woken| is_woken.replace(false)) {
            call.kept.parker.park();
        }
    }
}

/// What a thread keeps from call to call.
struct Kept {
    parker: Parker,
    waker: Waker,
    signal: *const Signal,
}

sync::thread_local! {
    static KEPT: OnceCell<Rc<Kept>> = const { OnceCell::new() };
    /// The target of the running call's waker; null if no call runs.
    static RUNNING: Cell<*const Signal> = const { Cell::new(ptr::null()) };
    /// Whether the running call was woken on its own thread.
    static IS_WOKEN: Cell<bool> = const { Cell::new(false) };
}

/// A call that runs, and the target of the one around it.
struct Call {
    kept: Rc<Kept>,
    outer: *const Signal,
}

impl Call {
    fn start() -> Self {
        // Fails when the thread ends and its cache is gone.
        let kept = KEPT.try_with(|kept| kept.get_or_init(Kept::new).clone());
        let kept = kept.unwrap_or_else(|_gone| Kept::new());
        let outer = RUNNING.with(|running| running.replace(kept.signal));
        Self { kept, outer }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        RUNNING.with(|running| running.set(self.outer));
    }
}

impl Kept {
    fn new() -> Rc<Self> {
        let parker = Parker::new();
        let signal = Arc::new(Signal {
            unparker: parker.unparker(),
        });
        Rc::new(Self {
            parker,
            signal: Arc::as_ptr(&signal),
            waker: Waker::from(signal),
        })
    }
}

struct Signal {
    unparker: Unparker,
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
