//! What the driver and the tasks share.

use std::collections::HashMap;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, PoisonError};

use primitives::atomic::{
    AtomicBool,
    Ordering::{AcqRel, Acquire, Release},
};
use primitives::{Mutex, MutexGuard};
use readiness::{
    Direction::{self, Read, Write},
    Event, Readiness,
};

use super::driver::wake;
use super::poller::{Found, Poller};
use super::shut_down_error;
use super::timers::Timers;

/// Registers sources and sleeps with a driver.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

/// The state that a driver and its handles share.
pub struct Shared {
    pub poller: Arc<Poller>,
    pub timers: Timers,
    table: Mutex<Table>,
    is_shut_down: AtomicBool,
    /// Set by an unpark, until a wait has returned.
    has_token: AtomicBool,
}

#[derive(Default)]
struct Table {
    sources: HashMap<usize, Arc<Registered>>,
    /// Keys are never used twice. 64 bits are enough for that.
    next_key: usize,
    is_shut_down: bool,
}

/// What is known of a source.
pub struct Registered {
    key: usize,
    pub readiness: Readiness,
    /// Whether tasks wait for reading and for writing.
    armed: Mutex<(bool, bool)>,
}

impl Handle {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Ends the driver's current wait, or the next one.
    pub fn unpark(&self) {
        // Release: pairs with the swap in `take_token`.
        self.shared.has_token.store(true, Release);
        self.shared.poller.notify();
    }

    /// Returns `true` if the driver has shut down.
    pub fn is_shut_down(&self) -> bool {
        // Acquire: pairs with the Release in `Shared::shut_down`.
        self.shared.is_shut_down.load(Acquire)
    }

    pub(crate) fn timers(&self) -> &Arc<sleep::Timers> {
        self.shared.timers.of_this_thread()
    }

    pub(crate) fn register(
        &self,
        source: BorrowedFd<'_>,
    ) -> io::Result<Arc<Registered>> {
        let mut table = self.shared.lock();
        if table.is_shut_down {
            return Err(shut_down_error());
        }
        let key = table.next_key;
        table.next_key += 1;
        self.shared.poller.add(source, key)?;
        let registered = Arc::new(Registered {
            key,
            readiness: Readiness::new(),
            armed: Mutex::new((false, false)),
        });
        table.sources.insert(key, registered.clone());
        Ok(registered)
    }

    pub(crate) fn deregister(
        &self,
        registered: &Registered,
        source: BorrowedFd<'_>,
    ) {
        self.shared.poller.delete(source, registered.key);
        self.shared.lock().sources.remove(&registered.key);
    }

    /// Has the poller report when the direction is ready, or at once if it is.
    /// The waker must have been stored before.
    pub(crate) fn arm(
        &self,
        registered: &Registered,
        source: BorrowedFd<'_>,
        direction: Direction,
    ) -> io::Result<()> {
        let mut armed = registered.lock();
        match direction {
            Read => armed.0 = true,
            Write => armed.1 = true,
        }
        self.shared.poller.arm(source, registered.key, *armed)
    }
}

impl Registered {
    /// An event disarms both directions. If only one of them is ready, the other
    /// counts as ready, too: its task tries in vain, and arms it again.
    pub fn set_ready(&self, found: &Found) {
        let armed = std::mem::take(&mut *self.lock());
        self.readiness.set_ready(Event {
            readable: found.readable || armed.0,
            writable: found.writable || armed.1,
            ..Event::default()
        });
    }

    fn lock(&self) -> MutexGuard<'_, (bool, bool)> {
        self.armed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    pub fn new(poller: Arc<Poller>, timers: Timers) -> Self {
        Self {
            poller,
            timers,
            table: Mutex::default(),
            is_shut_down: AtomicBool::new(false),
            has_token: AtomicBool::new(false),
        }
    }

    /// Returns `true` if there was a token.
    pub fn take_token(&self) -> bool {
        // AcqRel: pairs with the store in `unpark`.
        self.has_token.swap(false, AcqRel)
    }

    pub fn find(&self, key: usize) -> Option<Arc<Registered>> {
        self.lock().sources.get(&key).cloned()
    }

    /// Refuses new sources, and wakes all tasks that wait for one.
    pub fn shut_down(&self) {
        // Release: pairs with the Acquire in `Handle::is_shut_down`.
        self.is_shut_down.store(true, Release);
        let mut table = self.lock();
        table.is_shut_down = true;
        let sources: Vec<_> = table.sources.values().cloned().collect();
        drop(table);
        for registered in sources {
            wake(|| registered.readiness.shut_down());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
