//! Breaks clause 4: Any thread.
//! Caught by: a_waker_wakes_its_thread_from_within_another_block_on
//!
//! Asks whether this thread is polling, which is the time when nobody sleeps. A
//! future that is polled here may wake a `block_on` elsewhere, though.

use std::cell::Cell;
use std::pin::pin;
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
}

sync::thread_local! {
    /// Empty before the first call and while a call runs.
    static KEPT: Cell<Option<Rc<Kept>>> = const { Cell::new(None) };
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
    /// Whether the running call was woken on its own thread.
    static IS_WOKEN: Cell<bool> = const { Cell::new(false) };
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
        Self { kept }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        IS_RUNNING.with(|is_running| is_running.set(false));
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
        if IS_RUNNING.with(Cell::get) {
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
