//! Exercise 2: a parker of your own, and `block_on` on top of it.
//!
//! The chapter is `src/one-future/parker.md`. Check yourself with
//! `cargo test -p exercise-2`, and then let every order of events be tried:
//! `cargo test -p exercise-2 --features loom`.
//!
//! Import from `primitives` what you would import from `std::sync` and
//! `std::thread`, so that the checks can make it hostile and the models can
//! replace it. There are `primitives::{Arc, Mutex, MutexGuard, Condvar, hint,
//! thread}` and `primitives::atomic`. Time is std's: [`Duration`] and
//! [`Instant`](std::time::Instant). So is the [`Arc`](std::sync::Arc) of a
//! [`Wake`](std::task::Wake).

#[cfg(all(test, feature = "loom"))]
mod models;
#[cfg(all(test, not(feature = "loom")))]
mod tests;

use std::time::Duration;

/// Lets a thread sleep until somebody leaves it a token.
///
/// # Contract
///
/// 1. **One token.** A new parker has no token. [`Unparker::unpark`] leaves
///    one; if one is there already, it stays one. `park` takes it and returns.
/// 2. **No lost unpark.** An `unpark` counts whenever it comes: before
///    `park`, while the thread falls asleep, or while it sleeps.
/// 3. **No spurious return.** `park` returns only when it has taken a token.
/// 4. **Published.** What a thread wrote before its `unpark` is seen after
///    the `park` that takes the token, even if the token was there before.
/// 5. **Time-outs.** `park_timeout` returns `true` once it has taken a token
///    and `false` once the time is up, never early. A token that comes as the
///    time runs out may stay for the next call. Any `Duration` will do.
/// 6. **Idle.** A parked thread sleeps. It neither spins nor looks again by a
///    timer.
/// 7. **Independent.** [`std::thread::park`] takes no token of a parker, and
///    [`Thread::unpark`](std::thread::Thread::unpark) leaves none. A parker may
///    take the thread's own token, though, and may leave one.
/// 8. **One owner.** A parker may move to another thread between two calls,
///    but cannot be shared: it is `Send` and not `Sync`.
/// 9. **Unparkers live on.** An unparker and its clones unpark the parker
///    they came from and no other, from any thread. They may outlive it, and
///    all is freed once all are gone.
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
        todo!("make what the parker and its unparkers share")
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

    /// Makes an unparker of this parker.
    pub fn unparker(&self) -> Unparker {
        todo!("share what the parker has")
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
/// 10. **No lost wake-up.** A wake-up counts whenever it comes, whatever the
///     future does with [`std::thread::park`] or a `block_on` of its own; the
///     poll after it sees what was written before it.
/// 11. **Polled when woken.** The future is polled once at the start, and then
///     once at most for each wake-up. In between the thread sleeps.
/// 12. **Wakers live on.** A waker may be woken, cloned and dropped after
///     `block_on` has returned.
///
/// # Panics
///
/// Passes on a panic of the future.
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
