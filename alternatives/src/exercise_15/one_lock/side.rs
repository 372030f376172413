//! One direction of a source, and the wakers of the tasks that wait for it.

use std::collections::BTreeMap;
use std::mem;
use std::task::Waker;

/// One direction of a source.
#[derive(Default)]
pub(crate) struct Side {
    is_ready: bool,
    /// `true` if the direction stays ready forever.
    is_closed: bool,
    /// How many events have made the direction ready. Even at a billion events
    /// per second, the count would wrap only after centuries.
    tick: u64,
    pub(crate) wakers: Wakers,
    last_id: u64,
}

/// The wakers of the tasks that wait: the last poll of each returned `Pending`,
/// and no event has made the direction ready since.
#[derive(Default)]
pub(crate) struct Wakers {
    /// The waker of the newest `poll_ready`.
    pub(crate) polled: Option<Waker>,
    /// The wakers of the futures of `ready`, by the ids of the futures.
    pub(crate) waiting: BTreeMap<u64, Waker>,
}

impl Side {
    // ANCHOR: tick
    /// Makes the direction ready. Returns the wakers that the caller has to
    /// wake.
    #[must_use]
    pub(crate) fn set_ready(&mut self, is_closed: bool) -> Wakers {
        self.is_ready = true;
        self.is_closed |= is_closed;
        self.tick += 1;
        self.take_wakers()
    }

    /// Makes the direction not ready, unless it's closed or an event has come
    /// since `tick`.
    pub(crate) fn clear(&mut self, tick: u64) {
        if self.tick == tick && !self.is_closed {
            self.is_ready = false;
        }
    }
    // ANCHOR_END: tick

    pub(crate) fn tick_if_ready(&self) -> Option<u64> {
        self.is_ready.then_some(self.tick)
    }

    #[must_use]
    pub(crate) fn take_wakers(&mut self) -> Wakers {
        mem::take(&mut self.wakers)
    }

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
