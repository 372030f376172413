//! Another correct design, after the last version in Glavina's "Build your own
//! block_on()": the cache is borrowed for the whole call, and a call that finds
//! it borrowed is recursive. Other threads set a flag under a mutex. This
//! thread sets a flag of its own, and recognizes itself by the address of a
//! thread-local.

use std::cell::{Cell, RefCell};
use std::pin::{Pin, pin};
use std::ptr;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use primitives::{Condvar, Mutex};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let is_running = IS_RUNNING.with(|is_running| is_running.replace(true));
    assert!(!is_running, "recursive `block_on`");
    let _running = Running;
    let mut future = pin!(future);
    let cached = CACHE.try_with(|cache| {
        let mut cache = cache.borrow_mut();
        drive(cache.get_or_insert_with(Cached::new), future.as_mut())
    });
    // While the thread ends, the cache may be gone.
    cached.unwrap_or_else(|_gone| drive(&Cached::new(), future))
}

/// A call of [`block_on`] on this thread.
struct Running;

impl Drop for Running {
    fn drop(&mut self) {
        IS_RUNNING.with(|is_running| is_running.set(false));
    }
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
    static CACHE: RefCell<Option<Cached>> = const { RefCell::new(None) };
    static IS_WOKEN: Cell<bool> = const { Cell::new(false) };
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
}

impl Cached {
    fn new() -> Self {
        let signal = Arc::new(Signal {
            home: this_thread(),
            is_woken: Mutex::new(false),
            woken: Condvar::new(),
        });
        let waker = Waker::from(signal.clone());
        Self { signal, waker }
    }
}

/// The address of a thread-local, which is different for any two living
/// threads. A waker that outlives its thread may be taken for one of a later
/// thread's, which then polls once for nothing.
fn this_thread() -> usize {
    IS_WOKEN.with(|is_woken| ptr::from_ref(is_woken).addr())
}

struct Signal {
    home: usize,
    is_woken: Mutex<bool>,
    woken: Condvar,
}

impl Signal {
    fn wait(&self) {
        let mut is_woken =
            self.is_woken.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_woken {
            let woken = self.woken.wait(is_woken);
            is_woken = woken.unwrap_or_else(PoisonError::into_inner);
        }
        *is_woken = false;
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.home == this_thread() {
            IS_WOKEN.with(|is_woken| is_woken.set(true));
            return;
        }
        *self.is_woken.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.woken.notify_one();
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/04-cached-block-on/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/04-cached-block-on/src/tests/mod.rs"]
mod tests;
