//! Exercise 3: write a waker by hand, and a `block_on` that uses it.
//!
//! The chapter is `src/one-future/raw-waker.md`. Check yourself with
//! `cargo test -p exercise-3`, and then let loom try all interleavings:
//! `cargo test -p exercise-3 --features loom`.
//!
//! The standard library's `Waker::from` makes a waker from an `Arc<W>`. Here
//! you write what it does: no `Waker::from`, no `into`, no crate. No check
//! looks for these, since they fulfill the contract. Turn the `Arc` into a
//! pointer, write the four functions of a
//! [`RawWakerVTable`](std::task::RawWakerVTable) for it, and pass both to
//! [`Waker::new`]. This needs `unsafe`.
//!
//! As in exercise 2, import from `primitives` what the thread sleeps on, and
//! what you need if you keep a count yourself: `Mutex`, `Condvar`,
//! `UnsafeCell`, the atomics. The models see nothing else. The [`Arc`] around
//! the target is std's.

#[cfg(all(test, feature = "loom"))]
mod models;
#[cfg(all(test, not(feature = "loom")))]
mod tests;

use std::sync::Arc;
use std::task::{Wake, Waker};

/// Creates a waker that wakes `target`.
///
/// # Contract
///
/// 1. **Kept alive.** The target lives as long as any of its wakers. `waker`
///    takes over the count of the [`Arc`] that it is passed. Each clone has a
///    count of its own, in the `Arc` or in a count that you keep yourself.
/// 2. **Given back.** A waker that is dropped gives its count back, and wakes
///    nothing. With the last count, the target is dropped, once, and no memory
///    is left behind.
/// 3. **Wake.** `wake` calls [`Wake::wake`] of the target, once. It consumes
///    the waker, and the waker's count with it.
/// 4. **Wake by reference.** `wake_by_ref` calls [`Wake::wake_by_ref`] of the
///    target, once. The waker keeps its count.
/// 5. **Same waker.** [`Waker::will_wake`] returns `true` for a waker and its
///    clones, and `false` for the wakers of two targets. For two wakers that
///    were created from one target, it may return either.
/// 6. **Any thread.** Wakers may be cloned, woken and dropped on any thread,
///    and by several threads at once.
/// 7. **Panics.** If the target panics when it is woken, the panic comes out of
///    the call, and the counts are still right.
/// 8. **Any target.** The target may have any size and alignment, and it is
///    woken at its own address.
///
/// # Examples
///
/// ```no_run
/// use std::sync::Arc;
/// use std::task::Wake;
///
/// struct Bell;
///
/// impl Wake for Bell {
///     fn wake(self: Arc<Self>) {
///         println!("ding");
///     }
/// }
///
/// let waker = exercise_3::waker(Arc::new(Bell));
/// waker.wake_by_ref();
/// waker.wake();
/// ```
pub fn waker<W: Wake + Send + Sync + 'static>(target: Arc<W>) -> Waker {
    drop(target);
    todo!("two words: a pointer and a vtable")
}

/// Runs `future` on this thread until it is ready and returns its output. Its
/// wakers come from [`waker`].
///
/// # Contract
///
/// 9. **Prompt.** The future is polled at once, and again after each wake-up
///    until it is ready.
/// 10. **Idle.** While there is nothing to do, the thread sleeps. It neither
///     spins nor checks again on a timer.
/// 11. **No lost wake-up.** A wake-up that comes before the thread sleeps still
///     counts, even if the future itself calls `thread::park` or a `block_on`
///     of its own. (Such a nested call may work or panic.)
/// 12. **Wakers live on.** A waker may be woken, cloned and dropped after
///     `block_on` has returned. Calls leave no memory behind.
///
/// # Panics
///
/// Propagates a panic of the future.
///
/// # Examples
///
/// ```no_run
/// let answer = exercise_3::block_on(async { 6 * 7 });
/// assert_eq!(answer, 42);
/// ```
pub fn block_on<F: Future>(future: F) -> F::Output {
    drop(future);
    todo!("something to sleep on, in an `Arc`, and a waker for it")
}
