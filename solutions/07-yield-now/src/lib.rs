//! Solution 7: a future with one flag, and a counter.
//!
//! Neither knows of a runtime: a task's own waker is all that they use. So
//! they serve any executor, and the work-stealing one too, which may put a
//! task that wakes itself to the back of its queue.

#[cfg(test)]
#[path = "../../../exercises/07-yield-now/src/tests/mod.rs"]
mod tests;

use std::marker::PhantomData;
use std::mem;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Gives the executor's other tasks a turn: the task that awaits this goes to
/// the back of the queue.
///
/// # Contract
///
/// 1. **Once.** The first poll is pending, the second is ready. Until the
///    first poll nothing happens.
/// 2. **Woken.** The pending poll calls its waker once, so that the task is
///    polled again even if it is alone. (Inside a runtime it may leave that
///    to the runtime.) The ready poll wakes nobody.
/// 3. **A turn for the others.** Between the two polls the executor is in
///    charge. If it is fair, whoever was woken runs before the yield is over.
/// 4. **Nothing kept.** The future keeps no waker. Each yield is on its own:
///    one that is dropped halfway, or one of another task, changes nothing
///    for the next.
/// 5. **Any executor.** The second poll may come from another thread, with
///    another waker, or without a wake-up.
/// 6. **Over.** A yield that was ready is never pending again. Who polls it
///    nevertheless is told `Ready` again, or gets a panic.
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

/// Counts the steps of a long computation, and yields at every n-th.
///
/// # Contract
///
/// 7. **Every n-th.** Of the ticks of one `EveryNth` the n-th, the 2n-th and
///    so on yield, each as [`yield_now`] does. All others are ready at their
///    first poll. A tick counts once, however often it is polled.
/// 8. **Free in between.** A tick that does not yield does not touch the
///    waker, and allocates nothing.
/// 9. **Its own count.** Each `EveryNth` counts for itself, whatever others
///    count, and on whatever thread its ticks are polled.
/// 10. **Dropped ticks.** A tick that is dropped halfway does not stop the
///     count: of the n ticks that follow it, if all are polled, one yields.
///
/// Whether a tick that is never polled counts is left open.
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
    /// How many ticks there are up to the next that yields, with that one.
    left: NonZeroU32,
}

impl EveryNth {
    /// Makes a counter of which every `n`-th tick yields.
    pub fn new(n: NonZeroU32) -> Self {
        Self { n, left: n }
    }

    /// Counts one step. Await what it returns.
    #[inline]
    pub fn tick(&mut self) -> Tick<'_> {
        let left = NonZeroU32::new(self.left.get() - 1);
        // Set back here and not when the yield is over: it may be dropped first.
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
