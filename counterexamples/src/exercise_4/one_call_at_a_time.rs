//! Breaks clause 8: No recursion.
//! Caught by: calls_on_other_threads_and_later_calls_are_no_recursion
//! Also fails: two_waiting_threads_do_not_take_each_others_wake_ups
//! Also fails: a_waker_wakes_its_thread_from_within_another_block_on
//!
//! The mark against recursion is a `static`: one call in the whole process. The
//! author had one thread to try it on.

use std::cell::Cell;
use std::pin::pin;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use parker::{Parker, Unparker};

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

static IS_RUNNING: AtomicBool = AtomicBool::new(false);

thread_local! {
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
        // Acquire: pairs with the Release in `drop`.
        let was_running = IS_RUNNING.swap(true, Acquire);
        assert!(!was_running, "recursive `block_on`");
        // Fails when the thread ends and its cache is gone.
        let kept = KEPT.try_with(Cell::take).ok().flatten();
        let kept = kept.unwrap_or_else(Kept::new);
        RUNNING.with(|running| running.set(kept.signal));
        Self { kept }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        RUNNING.with(|running| running.set(ptr::null()));
        // Release: pairs with the Acquire in `start`.
        IS_RUNNING.store(false, Release);
        let _ = KEPT.try_with(|kept| kept.set(Some(self.kept.clone())));
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

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/04-cached-block-on/src/tests/mod.rs"]
mod tests;
