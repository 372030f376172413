//! The tasks' side of the driver: registering sources.

use std::io;
use std::sync::{Arc, PoisonError};

use mio::Interest;
use mio::event::Source;
use primitives::atomic::{AtomicBool, Ordering::Acquire};
use primitives::{Mutex, MutexGuard};

use super::registrations::{Registered, Registrations};
use super::timers::Timers;
use super::wake_up::WakeUp;
use readiness::Readiness;

/// Registers sources and sleeps with a driver. A handle may outlive its driver:
/// registering a source then fails with [`NotConnected`], and a sleep panics.
///
/// [`NotConnected`]: io::ErrorKind::NotConnected
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

/// The state that a driver and its handles share.
pub struct Shared {
    pub registry: mio::Registry,
    pub registrations: Mutex<Registrations>,
    pub wake_up: Arc<WakeUp>,
    pub timers: Timers,
    pub is_shut_down: AtomicBool,
}

/// The registration of one source.
pub struct Registration {
    handle: Handle,
    key: usize,
    pub readiness: Arc<Readiness>,
}

impl Handle {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Ends the current [`Driver::wait`](super::Driver::wait), or the next one
    /// if no thread is waiting.
    pub fn unpark(&self) {
        self.shared.wake_up.unpark();
    }

    /// Returns `true` if the driver has shut down.
    pub fn is_shut_down(&self) -> bool {
        // Acquire: pairs with the Release in `Shared::shut_down`.
        self.shared.is_shut_down.load(Acquire)
    }

    /// The timers for sleeps of this thread.
    pub(crate) fn timers(&self) -> &Arc<sleep::Timers> {
        self.shared.timers.of_this_thread()
    }

    /// Registers a source for both directions.
    pub(crate) fn register(
        &self,
        source: &mut impl Source,
        is_stream: bool,
    ) -> io::Result<Registration> {
        let readiness = Arc::new(Readiness::new());
        let registered = Registered {
            readiness: readiness.clone(),
            is_stream,
        };
        let key = self.shared.registrations().insert(registered)?;
        let registry = &self.shared.registry;
        let both = Interest::READABLE | Interest::WRITABLE;
        if let Err(error) = registry.register(source, mio::Token(key), both) {
            self.shared.registrations().remove(key);
            return Err(error);
        }
        Ok(Registration {
            handle: self.clone(),
            key,
            readiness,
        })
    }
}

impl Registration {
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// The caller closes the source only after this call. Once a source is
    /// closed, its descriptor may belong to another source; and if a duplicate
    /// of the descriptor is still open, epoll goes on reporting its events.
    pub fn deregister(&self, source: &mut impl Source) {
        let shared = &self.handle.shared;
        // This fails only if the source isn't registered, and then there's
        // nothing left to do.
        let _ = shared.registry.deregister(source);
        // From here on, an event that the driver fetched before finds no entry.
        shared.registrations().remove(self.key);
    }
}

impl Shared {
    pub fn registrations(&self) -> MutexGuard<'_, Registrations> {
        let registrations = self.registrations.lock();
        registrations.unwrap_or_else(PoisonError::into_inner)
    }
}
