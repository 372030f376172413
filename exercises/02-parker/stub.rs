//! Exercise 2: a parker of your own, and `block_on` on top of it.
//!
//! The chapter is `src/one-future/parker.md`. Check yourself with
//! `cargo test -p exercise-2`, and then let loom try all interleavings:
//! `cargo test -p exercise-2 --features loom`.
//!
//! Import from `primitives` what you would import from `std::sync` and
//! `std::thread`, so that the checks can make it hostile and the models can
//! replace it. The crate has `primitives::{Arc, Mutex, MutexGuard, Condvar,
//! hint, thread}` and `primitives::atomic`. Time comes from std: [`Duration`]
//! and [`Instant`](std::time::Instant). So does the [`Arc`](std::sync::Arc)
//! around a type that implements [`Wake`](std::task::Wake).

#[cfg(all(test, feature = "loom"))]
mod models;
#[cfg(all(test, not(feature = "loom")))]
mod tests;

use std::time::Duration;

/// Lets a thread sleep until another thread leaves it a token.
///
/// # Contract
///
/// 1. **One token.** A new parker has no token. [`Unparker::unpark`] leaves
///    one; if there is one already, it stays the only one. `park` takes the
///    token and returns.
/// 2. **No lost unpark.** An `unpark` counts no matter when it comes: before
///    `park`, while the thread is going to sleep, or while it sleeps.
/// 3. **No spurious return.** `park` returns only when it has taken a token.
/// 4. **Published.** What a thread wrote before its `unpark` is visible after
///    the `park` that takes the token, even if there was a token already when
///    the thread called `unpark`.
/// 5. **Timeouts.** `park_timeout` returns `true` once it has taken a token,
///    and `false` once the time is up, never early. A token that comes as the
///    time runs out may stay for the next call. Any `Duration` is allowed.
/// 6. **Idle.** A parked thread sleeps. It neither spins nor checks again on a
///    timer.
/// 7. **Independent.** [`std::thread::park`] takes no parker's token, and
///    [`Thread::unpark`](std::thread::Thread::unpark) leaves none. However, a
///    parker may take the thread's own token, and may leave one.
/// 8. **One owner.** A parker may move to another thread between two calls, but
///    it can't be shared: it is `Send` and not `Sync`.
/// 9. **Unparkers live on.** An unparker and its clones unpark the parker that
///    they came from and no other, from any thread. They may outlive it, and
///    all memory is freed once the parker and its unparkers are gone.
///
/// # Examples
///
/// ```no_run
/// let parker = exercise_2::Parker::new();
/// let unparker = parker.unparker();
/// std::thread::spawn(move || unparker.unpark());
/// parker.park();
/// ```
pub struct Parker {}

/// Unparks the thread that is parked in the [`Parker`] that it came from.
#[derive(Clone)]
pub struct Unparker {}

impl Parker {
    /// Makes a parker without a token.
    pub fn new() -> Self {
        todo!("create what the parker and its unparkers share")
    }

    /// Sleeps until there is a token, and takes it.
    pub fn park(&self) {
        todo!("take the token; if there is none, sleep until there is one")
    }

    /// Sleeps until there is a token or `timeout` has passed. Returns `true`
    /// if it has taken a token.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        let _ = timeout;
        todo!("like `park`, but give up once the time is up")
    }

    /// Creates an unparker of this parker.
    pub fn unparker(&self) -> Unparker {
        todo!("clone what the parker shares")
    }
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

impl Unparker {
    /// Leaves a token, and wakes the thread if it is parked.
    pub fn unpark(&self) {
        todo!("leave the token, then wake the thread if it sleeps")
    }
}

/// Runs `future` on this thread until it is ready and returns its output.
///
/// # Contract
///
/// 10. **No lost wake-up.** A wake-up counts no matter when it comes, and even
///     if the future calls [`std::thread::park`] or a `block_on` of its own.
///     The poll after the wake-up sees what was written before it.
/// 11. **Polled when woken.** The future is polled once at the start, and then
///     at most once for each wake-up. In between, the thread sleeps.
/// 12. **Wakers live on.** A waker may be woken, cloned and dropped after
///     `block_on` has returned.
///
/// # Panics
///
/// Propagates a panic of the future.
///
/// # Examples
///
/// ```no_run
/// let answer = exercise_2::block_on(async { 6 * 7 });
/// assert_eq!(answer, 42);
/// ```
pub fn block_on<F: Future>(future: F) -> F::Output {
    drop(future);
    todo!("poll; park until woken; poll again")
}
