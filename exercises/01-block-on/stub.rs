//! Exercise 1: run one future to completion on this thread.
//!
//! The chapter is `src/one-future/block-on.md`. Check yourself with
//! `cargo test -p exercise-1`.

#[cfg(test)]
mod tests;

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
/// ```no_run
/// let answer = exercise_1::block_on(async { 6 * 7 });
/// assert_eq!(answer, 42);
/// ```
pub fn block_on<F: Future>(future: F) -> F::Output {
    drop(future);
    todo!("poll, sleep until woken, poll again")
}
