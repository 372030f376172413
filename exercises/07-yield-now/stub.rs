//! Exercise 7: let other tasks run, but not too often.
//!
//! The chapter is `src/yielding/yield-now.md`. Check yourself with
//! `cargo test -p exercise-7`.
//!
//! Write both futures by hand. You choose the fields of the structs, and you
//! can add types of your own.

#[cfg(test)]
mod tests;

use std::marker::PhantomData;
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
/// ```no_run
/// # fn serve_one() -> bool { false }
/// # async fn example() {
/// while serve_one() {
///     exercise_7::yield_now().await;
/// }
/// # }
/// ```
pub fn yield_now() -> YieldNow {
    todo!("a future that remembers whether it has been polled")
}

/// The future of [`yield_now`].
#[derive(Debug)]
#[must_use = "a yield takes place where it is awaited"]
pub struct YieldNow {
    _yours: (),
}

impl Future for YieldNow {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
        todo!("pending once, and woken")
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
/// ```no_run
/// # use std::num::NonZeroU32;
/// # fn step() {}
/// # async fn example() {
/// let n = NonZeroU32::new(1_000).expect("a thousand is not zero");
/// let mut every_thousandth = exercise_7::EveryNth::new(n);
/// for _ in 0..1_000_000 {
///     step();
///     every_thousandth.tick().await;
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct EveryNth {
    _yours: (),
}

impl EveryNth {
    /// Creates a counter whose every `n`-th tick yields.
    pub fn new(n: NonZeroU32) -> Self {
        let _ = n;
        todo!("remember `n`, and count")
    }

    /// Counts one step. Await what it returns.
    pub fn tick(&mut self) -> Tick<'_> {
        todo!("ready, except that every n-th yields")
    }
}

/// The future of [`EveryNth::tick`].
#[derive(Debug)]
#[must_use = "a tick yields where it is awaited"]
pub struct Tick<'a> {
    /// One tick ends before the next begins.
    _counter: PhantomData<&'a mut EveryNth>,
}

impl Future for Tick<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
        todo!("does this tick yield?")
    }
}
