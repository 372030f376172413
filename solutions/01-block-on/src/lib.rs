//! Solution 1: poll, park, poll again.
//!
//! The thread's own park token carries the wake-up. It is kept until somebody
//! parks, so a wake-up that comes early is not lost. It belongs to the whole
//! thread, though, and not to this call: the next exercise is about that.

#[cfg(test)]
#[path = "../../../exercises/01-block-on/src/tests.rs"]
mod tests;

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Runs `future` on this thread until it is ready and returns its output.
///
/// # Contract
///
/// 1. **Prompt.** The future is polled at once, and again until it is ready.
///    One that is ready at its first poll needs no wake-up.
/// 2. **Idle.** While there is nothing to do the thread sleeps. It neither
///    spins nor looks again by a timer.
/// 3. **No lost wake-up.** A wake-up that comes before the thread sleeps
///    still counts, even one that comes during the poll.
/// 4. **Any thread.** Each clone of the waker may wake from any thread, and
///    wakes the `block_on` that it was made for. (A future that puts the
///    thread to sleep in its poll, by `thread::park` or a `block_on` of its
///    own, may take a wake-up away. The next exercise is about that.)
/// 5. **Bounded polls.** A wake-up causes one further poll at most. Several
///    before it may share one. Now and then, but not for each wake-up, a poll
///    without one is allowed.
/// 6. **Pinned.** The future does not move once it has been polled. It need
///    be neither `Send`, nor `Unpin`, nor `'static`.
/// 7. **One drop.** The future is dropped once, on this thread, before
///    `block_on` returns or passes on the future's panic.
/// 8. **Wakers live on.** A waker may be woken, cloned and dropped after
///    `block_on` has returned.
///
/// # Panics
///
/// Passes on a panic of the future.
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
        // May return without a wake-up; then the next poll is one too many, which the contract allows.
        thread::park();
    }
}

/// Wakes the thread that called [`block_on`], and keeps its handle alive for
/// as long as somebody may still want to wake it.
struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}
