//! Breaks clause 4: Any thread.
//! Caught by: two_waiting_threads_do_not_take_each_others_wake_ups
//! Also fails: a_waker_wakes_its_thread_from_within_another_block_on
//!
//! What is kept from call to call is kept in a `static`, once for the whole
//! process. It serves one waiting thread; with two, whoever sleeps longest gets
//! the wake-up, and the other one sleeps on.

use std::cell::Cell;
use std::pin::pin;
use std::ptr;
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(SIGNAL.clone());
    let mut cx = Context::from_waker(&waker);
    let _call = Call::start();
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        if !IS_WOKEN.replace(false) {
            SIGNAL.wait();
        }
    }
}

/// What all calls sleep on: nothing is allocated but once.
static SIGNAL: LazyLock<Arc<Signal>> = LazyLock::new(Arc::default);

thread_local! {
    /// The target of the running call's waker; null if no call runs.
    static RUNNING: Cell<*const Signal> = const { Cell::new(ptr::null()) };
    /// Whether the running call was woken on its own thread.
    static IS_WOKEN: Cell<bool> = const { Cell::new(false) };
}

/// A call that runs. Its end unmarks the thread.
struct Call;

impl Call {
    fn start() -> Self {
        assert!(RUNNING.get().is_null(), "recursive `block_on`");
        RUNNING.set(Arc::as_ptr(&SIGNAL));
        IS_WOKEN.set(false);
        Self
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        RUNNING.set(ptr::null());
    }
}

#[derive(Default)]
struct Signal {
    is_woken: Mutex<bool>,
    woken: Condvar,
}

impl Signal {
    /// Sleeps until another thread has woken this one, and takes the wake-up.
    fn wait(&self) {
        let is_woken =
            self.is_woken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_woken = self
            .woken
            .wait_while(is_woken, |is_woken| !*is_woken)
            .unwrap_or_else(PoisonError::into_inner);
        *is_woken = false;
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if ptr::eq(RUNNING.get(), &**self) {
            IS_WOKEN.set(true);
            return;
        }
        *self.is_woken.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.woken.notify_one();
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/04-cached-block-on/src/tests/mod.rs"]
mod tests;
