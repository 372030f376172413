//! The tasks' side of the driver: registering sources, and the current handle.

use std::cell::RefCell;
use std::io;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mio::Interest;
use mio::event::Source;
use timers::Timers;

use super::driver::wake;
use super::registrations::{Registered, Registrations};
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

thread_local! {
    /// The handle that [`Handle::enter`] has entered on this thread.
    static ENTERED: RefCell<Option<Handle>> = const { RefCell::new(None) };
}

impl Handle {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Returns the handle that this thread has [entered](Self::enter) last. If
    /// it has entered none, returns the handle of the driver of the exercise 14
    /// runtime that the thread has entered.
    ///
    /// # Panics
    ///
    /// If the thread has entered neither a handle nor a runtime, or if the
    /// runtime isn't built on a [`Driver`](super::Driver) of this crate.
    #[track_caller]
    pub fn current() -> Self {
        let current = Self::try_current();
        current.expect(
            "this thread has entered no runtime with I/O: call this in a \
             task, in `block_on`, or while a guard of `enter` is there",
        )
    }

    /// Like [`current`](Self::current), but returns `None` where `current`
    /// panics.
    pub fn try_current() -> Option<Self> {
        let entered = ENTERED.with(|entered| entered.borrow().clone());
        entered.or_else(|| {
            let shared = work_stealing::driver_handle()?.downcast().ok()?;
            Some(Self { shared })
        })
    }

    /// Makes this the [current](Self::current) handle of the thread until the
    /// guard is dropped. Drop nested guards in the reverse order of their
    /// creation.
    pub fn enter(&self) -> EnterGuard {
        let enter = |entered: &RefCell<_>| entered.replace(Some(self.clone()));
        EnterGuard {
            previous: ENTERED.with(enter),
            _on_its_thread: std::marker::PhantomData,
        }
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

    pub(crate) fn timers(&self) -> &Timers {
        &self.shared.timers
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

    /// Wakes every task that waits for a source, and refuses sources that are
    /// registered later.
    pub fn shut_down(&self) {
        // Release: pairs with the Acquire in `Handle::is_shut_down`.
        self.is_shut_down.store(true, Release);
        let registered = self.registrations().shut_down();
        for registered in registered {
            wake(|| registered.readiness.shut_down());
        }
    }
}

/// Keeps a [`Handle`] entered: until the guard is dropped, [`Handle::current`]
/// returns that handle.
#[must_use = "dropped, it leaves the driver"]
pub struct EnterGuard {
    previous: Option<Handle>,
    /// Makes the guard neither `Send` nor `Sync`: it belongs to its thread.
    _on_its_thread: std::marker::PhantomData<*const ()>,
}

impl Drop for EnterGuard {
    fn drop(&mut self) {
        let previous = self.previous.take();
        let entered = ENTERED.with(|entered| entered.replace(previous));
        drop(entered);
    }
}
