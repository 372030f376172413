//! Exercise 4: a `block_on` that keeps its parker and its waker, and is as fast
//! as a loop of polls.
//!
//! The chapter is `src/one-future/cached-block-on.md`. Check yourself with
//! `cargo test -p exercise-4`, then let loom try all interleavings:
//! `cargo test -p exercise-4 --features loom`, and then measure:
//! `cargo workshop bench 4`.
//!
//! The crate `parker` is exercise 2: [`parker::Parker`] and
//! [`parker::Unparker`]. Import from `primitives` what you would import from
//! `std::sync`, `std::thread` and `std::thread_local`, so that the checks can
//! count its atomic read-modify-writes and the models can replace it. The
//! [`Arc`](std::sync::Arc) around a type that implements
//! [`Wake`](std::task::Wake) is std's.

#[cfg(all(test, feature = "loom"))]
mod models;
#[cfg(all(test, not(feature = "loom")))]
mod tests;

/// Runs `future` on this thread until it is ready and returns its output. Keeps
/// what the thread's next call needs.
///
/// # Contract
///
/// 1. **Prompt.** The future is polled at once, and again after each wake-up,
///    until it is ready. A future that is ready at its first poll needs no
///    wake-up.
/// 2. **Idle.** While there is nothing to do, the thread sleeps. It neither
///    spins nor checks again on a timer.
/// 3. **No lost wake-up.** A wake-up counts no matter when it comes, from the
///    future itself or from another thread, during the poll or after it, and
///    even if the future calls [`std::thread::park`]. The poll that it causes,
///    which may be a later one than the next, sees what was written before the
///    wake-up.
/// 4. **Any thread.** Each clone of the waker may be called from any thread,
///    and wakes the thread that it was made for.
/// 5. **Bounded polls.** A wake-up causes at most one further poll. Wake-ups
///    that come while no `block_on` runs on the thread cause at most one
///    further poll in the next call, no matter how many there are.
/// 6. **One drop.** The future doesn't move once it has been polled. It is
///    dropped once, on this thread, before `block_on` returns or propagates the
///    future's panic.
/// 7. **No allocation.** After the first call on a thread, further calls
///    allocate nothing.
/// 8. **No recursion.** A call of `block_on` within the poll of a future that
///    `block_on` runs on the same thread panics, and polls nothing. The outer
///    call goes on. Calls on other threads and later calls aren't recursive. A
///    call in the future's destructor, after its last poll, may work or panic.
/// 9. **Panics.** After a panic of the future, the thread is as usable as
///    before.
/// 10. **Wakers live on.** A waker may be woken, cloned and dropped after
///     `block_on` has returned, and after its thread has ended.
/// 11. **Thread exit.** `block_on` works in the destructors of thread-locals,
///     where it may allocate. What is kept for a thread is freed when the
///     thread ends.
/// 12. **Cheap.** A wake-up by reference on the thread that polls, and the poll
///     after it, take no atomic read-modify-write.
///
/// # Panics
///
/// Propagates a panic of the future. A recursive call panics with a message
/// that contains the words "recursive `block_on`".
///
/// # Examples
///
/// ```no_run
/// let answer = exercise_4::block_on(async { 6 * 7 });
/// assert_eq!(answer, 42);
/// ```
pub fn block_on<F: Future>(future: F) -> F::Output {
    drop(future);
    todo!("poll and sleep with what the thread's last call left behind")
}
