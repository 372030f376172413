//! Breaks clause 3: No lost wake-up.
//! Caught by: wakes_by_both_ways_at_once_are_not_lost
//! Also fails: thousands_of_wakes_between_two_threads_all_arrive
//!
//! Other threads leave one token and note it, so that the second of two need
//! not leave it again. One that comes with a wake-up of the polling thread's
//! own is taken along, and stays noted: from then on nobody leaves a token.

use std::cell::Cell;
use std::pin::pin;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use parker::{Parker, Unparker};
use sync::atomic::{AtomicBool, Ordering};

use Ordering::{AcqRel, Acquire};

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
            call.kept.take_token_of_others();
        } else {
            call.kept.sleep();
        }
    }
}

/// What a thread keeps from call to call.
struct Kept {
    parker: Parker,
    waker: Waker,
    signal: Arc<Signal>,
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
        let parker = Parker::new();
        let signal = Arc::new(Signal {
            unparker: parker.unparker(),
            is_noted: AtomicBool::new(false),
        });
        Rc::new(Self {
            parker,
            waker: Waker::from(signal.clone()),
            signal,
        })
    }

    /// Sleeps until another thread has woken this one.
    fn sleep(&self) {
        self.parker.park();
        // Acquire: pairs with the Release in `wake_by_ref`.
        self.signal.is_noted.swap(false, Acquire);
    }

    /// Takes the token of a wake-up that came during the poll as well: the
    /// next poll answers both.
    fn take_token_of_others(&self) {
        // Acquire: pairs with the Release in `wake_by_ref`.
        if self.signal.is_noted.load(Acquire) {
            self.parker.park();
        }
    }
}

struct Signal {
    unparker: Unparker,
    /// Whether another thread has left a token.
    is_noted: AtomicBool,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let running = RUNNING.try_with(Cell::get).unwrap_or(ptr::null());
        if ptr::eq(running, &**self) {
            IS_WOKEN.with(|is_woken| is_woken.set(true));
        // AcqRel: pairs with the Acquire in `sleep`, and with itself.
        } else if !self.is_noted.swap(true, AcqRel) {
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
