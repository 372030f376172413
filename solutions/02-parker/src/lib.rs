//! Solution 2: a parker with a token of its own, and `block_on` on top of it.
//!
//! The token is an atomic state, so that leaving a token for a running thread
//! is a single swap, and so is taking a token that is there. Only a thread that
//! has to sleep, and the thread that wakes it, need the mutex and the condition
//! variable.
//!
//! We could use `thread::park` instead of the condition variable. However, a
//! parker may move, so each sleep would have to pass the parking thread's
//! handle to the unparkers, which takes a lock again, so we'd save nothing.

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/02-parker/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/02-parker/src/tests/mod.rs"]
mod tests;

use std::cell::Cell;
use std::marker::PhantomData;
use std::pin::pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use primitives::atomic::{AtomicU8, Ordering};
use primitives::{Arc, Condvar, Mutex};

use Ordering::{Acquire, Relaxed, Release};

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
/// let parker = solution_2::Parker::new();
/// let unparker = parker.unparker();
/// std::thread::spawn(move || unparker.unpark());
/// parker.park();
/// ```
pub struct Parker {
    shared: Arc<Shared>,
    /// Makes the parker `!Sync`: two threads in `park` at the same time would
    /// both announce that they sleep, and one token would have to wake both.
    _not_sync: PhantomData<Cell<()>>,
}

/// Unparks the thread that is parked in the [`Parker`] that it came from.
#[derive(Clone)]
pub struct Unparker {
    shared: Arc<Shared>,
}

impl Parker {
    /// Makes a parker without a token.
    pub fn new() -> Self {
        Self {
            shared: Arc::new(Shared {
                state: AtomicU8::new(EMPTY),
                lock: Mutex::new(()),
                woken: Condvar::new(),
            }),
            _not_sync: PhantomData,
        }
    }

    /// Sleeps until there is a token, and takes it.
    #[inline]
    pub fn park(&self) {
        if !self.shared.take_token() {
            self.shared.sleep(None);
        }
    }

    /// Sleeps until there is a token or `timeout` has passed. Returns `true`
    /// if it has taken a token.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        // A deadline that no `Instant` can express never comes.
        self.shared.take_token()
            || self.shared.sleep(Instant::now().checked_add(timeout))
    }

    /// Creates an unparker of this parker.
    pub fn unparker(&self) -> Unparker {
        Unparker {
            shared: self.shared.clone(),
        }
    }
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

impl Unparker {
    /// Leaves a token, and wakes the thread if it is parked.
    #[inline]
    pub fn unpark(&self) {
        // Release: pairs with the Acquire in `take_token`; publishes what this
        // thread wrote. A swap, even if the token is there already: a
        // compare-exchange would fail then, and publish nothing.
        if self.shared.state.swap(NOTIFIED, Release) == PARKED {
            self.shared.notify();
        }
    }
}

/// No token, and the thread doesn't sleep. Set when a token is taken and when
/// the time is up.
// --> PARKED (`sleep`), NOTIFIED (`unpark`)
const EMPTY: u8 = 0;

/// No token, and the parker's thread sleeps, or is about to: it holds `lock`
/// from before it sets this state until it sleeps.
// --> NOTIFIED (`unpark`), EMPTY (time is up)
const PARKED: u8 = 1;

/// There is a token.
// --> EMPTY (`take_token`)
const NOTIFIED: u8 = 2;

/// What a parker shares with its unparkers.
///
/// *Memory ordering.* What happens before an `unpark` happens before the return
/// of the `park` that takes the token. The pair is the Release of the swap in
/// `unpark` and the Acquire of the swap in `take_token`. The latter reads what
/// the last `unpark` wrote. Since each `unpark` is a read-modify-write, it
/// continues the release sequences of the earlier ones, so their writes are
/// seen too.
struct Shared {
    /// One of the three states above. Only the parker's thread leaves EMPTY for
    /// PARKED, and only it takes the token.
    state: AtomicU8,
    /// Guards no data, only the moment between setting PARKED and sleeping.
    lock: Mutex<()>,
    woken: Condvar,
}

impl Shared {
    /// Takes the token, or takes back the announcement to sleep. Returns `true`
    /// if there was a token.
    #[inline]
    fn take_token(&self) -> bool {
        // Acquire: pairs with the Release in `unpark`; shows what the unparking threads wrote.
        self.state.swap(EMPTY, Acquire) == NOTIFIED
    }

    /// Sleeps until there is a token or the deadline has come. Returns `true`
    /// if it has taken a token.
    #[cold]
    fn sleep(&self, deadline: Option<Instant>) -> bool {
        let mut guard =
            self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        // Relaxed: publishes nothing. It fails if a token has come since the
        // caller looked, which `take_token` will take.
        let _ = self.state.compare_exchange(EMPTY, PARKED, Relaxed, Relaxed);
        // Relaxed: only tells whether to go on sleeping; `take_token` acquires.
        while self.state.load(Relaxed) == PARKED {
            let woken = &self.woken;
            guard = match deadline.map(|deadline| {
                deadline.saturating_duration_since(Instant::now())
            }) {
                None => {
                    woken.wait(guard).unwrap_or_else(PoisonError::into_inner)
                }
                Some(Duration::ZERO) => break,
                Some(left) => {
                    let woken = woken.wait_timeout(guard, left);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        self.take_token()
    }

    /// Ends the sleep of the thread that set PARKED.
    #[cold]
    fn notify(&self) {
        // That thread holds the lock until it sleeps. Once we've had the lock,
        // we know that the notification reaches it.
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
        self.woken.notify_one();
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
/// let answer = solution_2::block_on(async { 6 * 7 });
/// assert_eq!(answer, 42);
/// ```
// ANCHOR: block_on
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let parker = Parker::new();
    let waker = Waker::from(std::sync::Arc::new(parker.unparker()));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        parker.park();
    }
}

impl Wake for Unparker {
    fn wake(self: std::sync::Arc<Self>) {
        self.unpark();
    }

    fn wake_by_ref(self: &std::sync::Arc<Self>) {
        self.unpark();
    }
}
// ANCHOR_END: block_on
