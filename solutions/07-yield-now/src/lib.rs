//! Solution 7: a future with one flag, and a counter.
//!
//! Neither knows about a runtime: all they use is the task's own waker. They
//! therefore work on any executor, including the work-stealing one, which may
//! put a task that wakes itself at the back of its queue.

#[cfg(test)]
#[path = "../../../exercises/07-yield-now/src/tests/mod.rs"]
mod tests;

use std::marker::PhantomData;
use std::mem;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Lets the executor's other tasks run: the task that awaits this goes to the
/// back of the queue.
///
/// # Contract
///
/// 1. **Once.** The first poll is pending, and the second is ready. Before the
///    first poll, nothing happens.
/// 2. **Woken.** The pending poll calls its waker once, so that the task is
///    polled again even if it's alone. (Inside a runtime that offers it, the
///    yield may leave this call to the runtime.) The ready poll calls no waker.
/// 3. **A turn for the others.** Between the two polls, the executor is in
///    charge. If it's fair, the tasks that were woken run before the yield is
///    over.
/// 4. **Nothing kept.** The future keeps no waker. Each yield is independent: a
///    yield that is dropped halfway, or a yield of another task, changes
///    nothing for the next yield.
/// 5. **Any executor.** The second poll may come from another thread, with
///    another waker, or without a wake-up.
/// 6. **Over.** A yield that was ready is never pending again. If it's polled
///    nevertheless, it returns `Ready` again, or panics.
///
/// # Examples
///
/// ```
/// # let mut left = 3;
/// # let mut serve_one = || { left -= 1; left > 0 };
/// # block_on::block_on(async {
/// while serve_one() {
///     solution_7::yield_now().await;
/// }
/// # });
/// ```
pub fn yield_now() -> YieldNow {
    YieldNow { was_polled: false }
}

/// The future of [`yield_now`].
#[derive(Debug)]
#[must_use = "a yield takes place where it is awaited"]
pub struct YieldNow {
    was_polled: bool,
}

impl Future for YieldNow {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if mem::replace(&mut self.was_polled, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Counts the steps of a long computation, and yields at every n-th step.
///
/// # Contract
///
/// 7. **Every n-th.** Of the ticks of one `EveryNth`, the n-th, the 2n-th and
///    so on yield, each as [`yield_now`] does. All others are ready at their
///    first poll. A tick counts once, no matter how often it's polled, and
///    clause 6 is true of ticks, too.
/// 8. **Free in between.** A tick that doesn't yield doesn't touch the waker,
///    and allocates nothing.
/// 9. **Its own count.** Each `EveryNth` keeps its own count, no matter what
///    others count, and which threads poll its ticks.
/// 10. **Dropped ticks.** A tick that is dropped halfway doesn't stop the
///     count: of the n ticks that follow it, if all are polled, one yields.
///
/// The contract leaves open whether a tick that is never polled counts.
///
/// # Examples
///
/// ```
/// # use std::num::NonZeroU32;
/// # fn step() {}
/// # block_on::block_on(async {
/// let n = NonZeroU32::new(1_000).expect("a thousand is not zero");
/// let mut every_thousandth = solution_7::EveryNth::new(n);
/// for _ in 0..1_000_000 {
///     step();
///     every_thousandth.tick().await;
/// }
/// # });
/// ```
#[derive(Debug)]
pub struct EveryNth {
    n: NonZeroU32,
    /// The number of ticks up to and including the next one that yields.
    left: NonZeroU32,
}

impl EveryNth {
    /// Creates a counter whose every `n`-th tick yields.
    pub fn new(n: NonZeroU32) -> Self {
        Self { n, left: n }
    }

    /// Counts one step. Await what it returns.
    #[inline]
    pub fn tick(&mut self) -> Tick<'_> {
        let left = NonZeroU32::new(self.left.get() - 1);
        // Reset here rather than when the yield ends, because it may be dropped
        // before that.
        self.left = left.unwrap_or(self.n);
        Tick {
            yielding: left.is_none().then(yield_now),
            _counter: PhantomData,
        }
    }
}

/// The future of [`EveryNth::tick`].
#[derive(Debug)]
#[must_use = "a tick yields where it is awaited"]
pub struct Tick<'a> {
    yielding: Option<YieldNow>,
    /// One tick ends before the next begins.
    _counter: PhantomData<&'a mut EveryNth>,
}

impl Future for Tick<'_> {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.yielding {
            None => Poll::Ready(()),
            Some(yielding) => Pin::new(yielding).poll(cx),
        }
    }
}
