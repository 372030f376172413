//! One direction of a source: a word that says whether it's ready, and the
//! wakers of the tasks that wait for it.
//!
//! *Memory ordering.* An event changes the word, and then locks the waiters to
//! take their wakers out. A poll that has to wait locks the waiters, looks at
//! the word again, and stores its waker before it unlocks. If the poll locks
//! first, the event finds its waker. If the event locks first, its unlock
//! happens before the poll's lock, so the poll sees the changed word. What the
//! driver did before an event is published by the word itself: each event is a
//! release, and each look is an acquire.

use std::collections::BTreeMap;
use std::mem;
use std::sync::PoisonError;
use std::task::Waker;

use primitives::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use primitives::{Mutex, MutexGuard};

use super::ShutDown;

/// Set if the direction is ready.
const READY: u64 = 1;
/// Set if the direction stays ready forever.
const CLOSED: u64 = 1 << 1;
/// Set if the driver has shut down.
const SHUT_DOWN: u64 = 1 << 2;
/// One event. The tick, which counts the events that have made the direction
/// ready, takes the rest of the word. Even at a billion events per second, it
/// would wrap only after seventy years.
const TICK: u64 = 1 << 3;

/// One direction of a source.
pub(crate) struct Side {
    word: AtomicU64,
    waiters: Mutex<Waiters>,
}

/// The tasks that wait.
#[derive(Default)]
pub(crate) struct Waiters {
    pub(crate) wakers: Wakers,
    last_id: u64,
}

/// The wakers of the tasks that wait: the last poll of each returned `Pending`,
/// and no event has taken them out since.
#[derive(Default)]
pub(crate) struct Wakers {
    /// The waker of the newest `poll_ready`.
    pub(crate) polled: Option<Waker>,
    /// The wakers of the futures of `ready`, by the ids of the futures.
    pub(crate) waiting: BTreeMap<u64, Waker>,
}

impl Side {
    pub(crate) fn new() -> Self {
        Self {
            word: AtomicU64::new(0),
            waiters: Mutex::default(),
        }
    }

    // ANCHOR: word
    /// Returns the result of a poll, or `None` if its task has to wait.
    pub(crate) fn outcome(&self) -> Option<Result<u64, ShutDown>> {
        // Acquire: pairs with the RMWs in `set_ready` and `shut_down`.
        let word = self.word.load(Acquire);
        if word & SHUT_DOWN != 0 {
            return Some(Err(ShutDown));
        }
        (word & READY != 0).then_some(Ok(word))
    }

    /// Makes the direction ready. Returns the wakers that the caller has to
    /// wake.
    #[must_use]
    pub(crate) fn set_ready(&self, is_closed: bool) -> Wakers {
        let closed = if is_closed { CLOSED } else { 0 };
        // The tick has the highest bits, so a tick that wraps changes no flag.
        let change = |word: u64| Some(word.wrapping_add(TICK) | READY | closed);
        // Release: pairs with the Acquire load in `outcome`.
        let _ = self.word.fetch_update(Release, Relaxed, change);
        self.take_wakers()
    }

    /// Makes the direction not ready, unless it's closed or an event has come
    /// since a poll saw `seen`.
    pub(crate) fn clear(&self, seen: u64) {
        if seen & CLOSED != 0 {
            return;
        }
        // Each event changes the tick, so the CAS fails if one has come.
        // Relaxed: it publishes nothing. It's an RMW, so a look that reads what
        // it wrote still acquires the event before it.
        let not_ready = seen & !READY;
        let _ = self
            .word
            .compare_exchange(seen, not_ready, Relaxed, Relaxed);
    }
    // ANCHOR_END: word

    /// Makes all polls return an error. Returns the wakers that the caller has
    /// to wake.
    #[must_use]
    pub(crate) fn shut_down(&self) -> Wakers {
        // Release: pairs with the Acquire load in `outcome`.
        self.word.fetch_or(SHUT_DOWN, Release);
        self.take_wakers()
    }

    // A model's failing order shows who locks.
    #[track_caller]
    pub(crate) fn lock(&self) -> MutexGuard<'_, Waiters> {
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_wakers(&self) -> Wakers {
        mem::take(&mut self.lock().wakers)
    }
}

impl Waiters {
    /// Returns an id that no other future of this direction has.
    pub(crate) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }
}

impl Wakers {
    /// Wakes all the tasks. The caller must not hold the lock.
    pub(crate) fn wake(self) {
        let Self { polled, waiting } = self;
        polled.into_iter().for_each(Waker::wake);
        waiting.into_values().for_each(Waker::wake);
    }
}
