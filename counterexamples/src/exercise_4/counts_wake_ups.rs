//! Breaks clause 5: Bounded polls.
//! Caught by: stale_wake_ups_cost_the_next_call_one_poll_at_most
//! Also fails: a_thread_that_ends_wakes_another
//!
//! Counts the wake-ups on this thread, so that none is lost. Those that come
//! while nobody waits are polled for one by one, later.

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
    let mut cx = Context::from_waker(&call.kept.waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        let wakes = WAKES.with(Cell::get);
        if wakes > 0 {
            WAKES.with(|count| count.set(wakes - 1));
        } else {
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
    /// Empty before the first call and while a call runs.
    static KEPT: Cell<Option<Rc<Kept>>> = const { Cell::new(None) };
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
    /// The target of this thread's wakers.
    static OWN: Cell<*const Signal> = const { Cell::new(ptr::null()) };
    /// The wake-ups on this thread that were not yet answered by a poll.
    static WAKES: Cell<usize> = const { Cell::new(0) };
}

/// A call that runs. Its end puts back what it has taken.
struct Call {
    kept: Rc<Kept>,
}

impl Call {
    fn start() -> Self {
        let is_running = IS_RUNNING.with(Cell::get);
        assert!(!is_running, "recursive `block_on`");
        // Fails when the thread ends and its cache is gone.
        let kept = KEPT.try_with(Cell::take).ok().flatten();
        let kept = kept.unwrap_or_else(Kept::new);
        IS_RUNNING.with(|is_running| is_running.set(true));
        OWN.with(|own| own.set(kept.signal));
        Self { kept }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        IS_RUNNING.with(|is_running| is_running.set(false));
        let kept = self.kept.clone();
        if KEPT.try_with(|cache| cache.set(Some(kept))).is_err() {
            OWN.with(|own| own.set(ptr::null()));
        }
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
            WAKES.with(|wakes| wakes.set(wakes.get() + 1));
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
