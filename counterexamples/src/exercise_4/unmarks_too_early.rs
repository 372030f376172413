//! Breaks clause 8: No recursion.
//! Caught by: a_recursive_call_panics_and_says_so
//! Also fails: a_thread_that_ends_wakes_another
//!
//! The guard that unmarks the thread is there before the question whether the
//! thread is marked. A call that panics over the answer unmarks the thread of
//! the outer call, and the next recursion goes unnoticed.

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
    IS_WOKEN.with(|is_woken| is_woken.set(false));
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
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
    /// The target of this thread's wakers.
    static OWN: Cell<*const Signal> = const { Cell::new(ptr::null()) };
    /// Whether the running call was woken on its own thread.
    static IS_WOKEN: Cell<bool> = const { Cell::new(false) };
}

/// A call that runs. Its end unmarks the thread.
struct Call {
    kept: Rc<Kept>,
}

impl Call {
    fn start() -> Self {
        // Fails when the thread ends and its cache is gone.
        let kept = KEPT.try_with(|kept| kept.get_or_init(Kept::new).clone());
        let kept = kept.unwrap_or_else(|_gone| Kept::new());
        let call = Self { kept };
        let was_running =
            IS_RUNNING.with(|is_running| is_running.replace(true));
        assert!(!was_running, "recursive `block_on`");
        OWN.with(|own| own.set(call.kept.signal));
        call
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        IS_RUNNING.with(|is_running| is_running.set(false));
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
        let own = OWN.try_with(Cell::get).unwrap_or(ptr::null());
        if ptr::eq(own, &**self) {
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
