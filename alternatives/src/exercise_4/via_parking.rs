//! Another correct design: the parker of the crate `parking`, for which there
//! are no models. Each waker's target has a number, and a thread recognizes its
//! own wake-ups by the number of the target that its running call has.

use std::cell::{Cell, OnceCell};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, Wake, Waker};

use parking::{Parker, Unparker};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    assert_eq!(RUNNING.get(), NONE, "recursive `block_on`");
    let kept =
        KEPT.try_with(|kept| kept.get_or_init(Kept::new).run(future.as_mut()));
    // While the thread ends, what it has kept may be gone.
    kept.unwrap_or_else(|_gone| Kept::new().run(future))
}

/// What a thread's calls use, one after another.
struct Kept {
    parker: Parker,
    /// Of the waker's target.
    number: u64,
    waker: Waker,
}

/// The number of no target.
const NONE: u64 = 0;

thread_local! {
    static KEPT: OnceCell<Kept> = const { OnceCell::new() };
    /// The number of the running call's target.
    static RUNNING: Cell<u64> = const { Cell::new(NONE) };
    /// Whether the running call was woken on its own thread.
    static IS_WOKEN: Cell<bool> = const { Cell::new(false) };
}

impl Kept {
    fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(NONE);
        // Relaxed: the numbers only have to differ.
        let number = COUNT.fetch_add(1, Relaxed) + 1;
        let (parker, unparker) = parking::pair();
        let waker = Waker::from(Arc::new(Target { number, unparker }));
        Self {
            parker,
            number,
            waker,
        }
    }

    fn run<F: Future>(&self, mut future: Pin<&mut F>) -> F::Output {
        let _running = Running::begin(self.number);
        let mut cx = Context::from_waker(&self.waker);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
                return output;
            }
            if !IS_WOKEN.replace(false) {
                self.parker.park();
            }
        }
    }
}

/// A running call, until it's dropped, even by a panic.
struct Running;

impl Running {
    fn begin(number: u64) -> Self {
        RUNNING.set(number);
        // A wake-up in an earlier call's last poll asks for nothing in this one.
        IS_WOKEN.set(false);
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.set(NONE);
    }
}

struct Target {
    number: u64,
    unparker: Unparker,
}

impl Wake for Target {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if RUNNING.get() == self.number {
            IS_WOKEN.set(true);
        } else {
            self.unparker.unpark();
        }
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/04-cached-block-on/src/tests/mod.rs"]
mod tests;
