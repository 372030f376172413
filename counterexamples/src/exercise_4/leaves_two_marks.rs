//! Breaks clause 5: Bounded polls.
//! Caught by: a_wake_up_causes_one_poll
//! Also fails: stale_wake_ups_cost_the_next_call_one_poll_at_most
//!
//! Another thread cannot know whether this one sleeps. So it sets a flag for a
//! thread that is awake, and leaves a token for one that sleeps. The sleeper
//! takes the token and polls; then it finds the flag, and polls again.

use std::cell::Cell;
use std::pin::pin;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use parker::{Parker, Unparker};
use sync::atomic::{AtomicBool, Ordering};

use Ordering::{Acquire, Release};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let call = Call::start();
    let mut cx = Context::from_waker(&call.kept.waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        let woken_here = IS_WOKEN.with(|is_woken| is_woken.replace(false));
        // Whoever is woken while it polls need not sleep.
        if !woken_here && !call.kept.signal.is_woken.swap(false, Acquire) {
            call.kept.parker.park();
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
            is_woken: AtomicBool::new(false),
        });
        Rc::new(Self {
            parker,
            waker: Waker::from(signal.clone()),
            signal,
        })
    }
}

struct Signal {
    unparker: Unparker,
    is_woken: AtomicBool,
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
            self.is_woken.swap(true, Release);
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
