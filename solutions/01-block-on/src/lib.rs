//! Solution 1: poll, park, poll again.
//!
//! The thread's park token carries the wake-up. The token is kept until the
//! thread parks, so that an early wake-up isn't lost. However, it belongs to
//! the whole thread and not to this call: the next exercise is about that.

#[cfg(test)]
#[path = "../../../exercises/01-block-on/src/tests/mod.rs"]
mod tests;

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Runs `future` on this thread until it is ready and returns its output.
///
/// # Contract
///
/// 1. **Prompt.** The future is polled at once, and again until it is ready. A
///    future that is ready at its first poll needs no wake-up.
/// 2. **Idle.** While there is nothing to do, the thread sleeps. It neither
///    spins nor checks again on a timer.
/// 3. **No lost wake-up.** A wake-up that comes before the thread sleeps still
///    counts, even if it comes during the poll.
/// 4. **Any thread.** Each clone of the waker may be called from any thread,
///    and wakes the `block_on` that it was made for. (A future that puts the
///    thread to sleep during its poll, with `thread::park` or a `block_on` of
///    its own, may consume a wake-up that has come by then, but none that comes
///    later. The next exercise is about that.)
/// 5. **Bounded polls.** A wake-up causes at most one further poll, and several
///    wake-ups before that poll may share it. An occasional poll without a
///    wake-up is allowed, but not a second poll for each wake-up.
/// 6. **Pinned.** The future doesn't move once it has been polled. It doesn't
///    have to be `Send`, `Unpin` or `'static`.
/// 7. **One drop.** The future is dropped once, on this thread, before
///    `block_on` returns or propagates the future's panic.
/// 8. **Wakers live on.** A waker may be woken, cloned and dropped after
///    `block_on` has returned.
///
/// # Panics
///
/// Propagates a panic of the future. May also panic where it's called within a
/// poll of another `block_on`, which then goes on.
///
/// # Examples
///
/// ```
/// let answer = solution_1::block_on(async { 6 * 7 });
/// assert_eq!(answer, 42);
/// ```
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(ThreadWaker(thread::current())));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        // May return without a wake-up. Then the next poll is one too many,
        // which the contract allows.
        thread::park();
    }
}

/// Wakes the thread that called [`block_on`], and keeps its handle alive for as
/// long as a clone of the waker exists.
struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}
