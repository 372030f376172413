//! Exercise 1: run one future to its end on this thread.
//!
//! The chapter is `src/one-future/block-on.md`. Check yourself with
//! `cargo test -p exercise-1`.

#[cfg(test)]
mod tests;

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
/// ```no_run
/// let answer = exercise_1::block_on(async { 6 * 7 });
/// assert_eq!(answer, 42);
/// ```
pub fn block_on<F: Future>(future: F) -> F::Output {
    drop(future);
    todo!("poll, sleep until woken, poll again")
}
