//! Exercise 3: make a waker by hand, and a `block_on` that uses it.
//!
//! The chapter is `src/one-future/raw-waker.md`. Check yourself with
//! `cargo test -p exercise-3`, and then let every order of events be tried:
//! `cargo test -p exercise-3 --features loom`.
//!
//! The standard library makes a waker of an `Arc<W>` by `Waker::from`. Here
//! you write what it does: no `Waker::from`, no `into`, no crate. No check
//! looks for these, since they fulfil the contract. Turn the `Arc` into a
//! pointer, write the four functions of a
//! [`RawWakerVTable`](std::task::RawWakerVTable) over it, and hand both to
//! [`Waker::new`]. This needs `unsafe`.
//!
//! What the thread sleeps on, and a count if you keep one yourself, import from
//! `primitives`, as in exercise 2: `Mutex`, `Condvar`, `UnsafeCell`, the
//! atomics. The models see nothing else. The [`Arc`] of the target is std's.

#[cfg(all(test, feature = "loom"))]
mod models;
#[cfg(all(test, not(feature = "loom")))]
mod tests;

use std::sync::Arc;
use std::task::{Wake, Waker};

/// Makes a waker that wakes `target`.
///
/// # Contract
///
/// 1. **Kept alive.** The target lives as long as any waker of it. `waker`
///    takes over the count that it is given; each clone holds one of its own,
///    in the [`Arc`] or in a count that you keep yourself.
/// 2. **Given back.** A waker that is dropped gives its count back and wakes
///    nobody. With the last count the target is dropped, once, and no memory
///    is left behind.
/// 3. **Wake.** `wake` calls [`Wake::wake`] of the target, once. It uses the
///    waker up, and its count with it.
/// 4. **Wake by reference.** `wake_by_ref` calls [`Wake::wake_by_ref`] of the
///    target, once. The waker keeps its count.
/// 5. **Same waker.** [`Waker::will_wake`] says yes to a waker and its
///    clones, and no to the wakers of two targets. Of two wakers that were made
///    of one target it may say either.
/// 6. **Any thread.** Wakers are cloned, woken and dropped on any thread, by
///    several threads at once.
/// 7. **Panics.** A panic of the target, when it is woken, comes out of the
///    call. The counts are right all the same.
/// 8. **Any target.** The target may have any size and alignment, and is
///    woken where it is.
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
/// wakers are made by [`waker`].
///
/// # Contract
///
/// 9. **Prompt.** The future is polled at once, and again after each wake-up
///    until it is ready.
/// 10. **Idle.** While there is nothing to do the thread sleeps. It neither
///     spins nor looks again by a timer.
/// 11. **No lost wake-up.** A wake-up that comes before the thread sleeps
///     still counts, whatever the future itself does with `thread::park` or a
///     `block_on` of its own, which may work or panic.
/// 12. **Wakers live on.** A waker may be woken, cloned and dropped after
///     `block_on` has returned. Calls leave no memory behind.
///
/// # Panics
///
/// Passes on a panic of the future.
///
/// # Examples
///
/// ```no_run
/// let answer = exercise_3::block_on(async { 6 * 7 });
/// assert_eq!(answer, 42);
/// ```
pub fn block_on<F: Future>(future: F) -> F::Output {
    drop(future);
    todo!("something to sleep on, in an `Arc`, and a waker of it")
}
