//! Breaks clause 6: One drop.
//! Caught by: the_future_stays_where_it_is_and_is_dropped_once
//! Also fails: a_recursive_call_while_the_thread_ends_panics
//!
//! Takes the future out of an `Option` for each poll and puts it back. It is at
//! the same address in every poll, and elsewhere in between. What others have
//! written to it meanwhile is lost.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::ptr;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use sync::{Condvar, Mutex};

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut waiting = Some(future);
    let cached = CACHE.try_with(|cache| {
        let mut cache = cache.try_borrow_mut().expect("recursive `block_on`");
        drive(cache.get_or_insert_with(Cached::new), &mut waiting)
    });
    // The cache is gone when the thread ends.
    cached.unwrap_or_else(|_gone| drive(&Cached::new(), &mut waiting))
}

fn drive<F: Future>(cached: &Cached, waiting: &mut Option<F>) -> F::Output {
    let mut cx = Context::from_waker(&cached.waker);
    IS_WOKEN.with(|is_woken| is_woken.set(false));
    while let Some(mut polled) = waiting.take() {
        // SAFETY: wrong, and this is the bug: the future moves after this poll.
        let pinned = unsafe { Pin::new_unchecked(&mut polled) };
        if let Poll::Ready(output) = pinned.poll(&mut cx) {
            return output;
        }
        *waiting = Some(polled);
        if !IS_WOKEN.with(|is_woken| is_woken.replace(false)) {
            cached.signal.wait();
        }
    }
    unreachable!("it was put back")
}

struct Cached {
    signal: Arc<Signal>,
    waker: Waker,
}

sync::thread_local! {
    static CACHE: RefCell<Option<Cached>> = const { RefCell::new(None) };
    static IS_WOKEN: Cell<bool> = const { Cell::new(false) };
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

/// The address of a thread-local: no two living threads have the same. A
/// waker that outlives its thread may be taken for one of a later thread's,
/// which then polls once for nothing.
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
