//! The driver, as tasks see it.

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

/// Registers sources and sleeps at a driver. It may outlive the driver, and
/// then gives errors.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

/// What a driver and its handles share.
pub struct Shared {
    pub registry: mio::Registry,
    pub registrations: Mutex<Registrations>,
    pub wake_up: Arc<WakeUp>,
    pub timers: Timers,
    pub is_shut_down: AtomicBool,
}

/// What a source is registered as.
pub struct Registration {
    handle: Handle,
    key: usize,
    pub readiness: Arc<Readiness>,
}

thread_local! {
    /// What [`Handle::enter`] has entered on this thread.
    static ENTERED: RefCell<Option<Handle>> = const { RefCell::new(None) };
}

impl Handle {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Returns the handle that was entered on this thread last, or else that of
    /// the runtime of exercise 14 that this thread has entered.
    ///
    /// # Panics
    ///
    /// If there's neither, or if that runtime has another driver or none.
    #[track_caller]
    pub fn current() -> Self {
        let current = Self::try_current();
        current.expect(
            "this thread has entered no runtime with I/O: call this in a \
             task, in `block_on`, or while a guard of `enter` is there",
        )
    }

    /// Like [`current`](Self::current), without the panic.
    pub fn try_current() -> Option<Self> {
        let entered = ENTERED.with(|entered| entered.borrow().clone());
        entered.or_else(|| {
            let shared = work_stealing::driver_handle()?.downcast().ok()?;
            Some(Self { shared })
        })
    }

    /// Lets this thread use what needs a handle, as long as the guard is there.
    /// Guards are to be dropped in the reverse of their order.
    pub fn enter(&self) -> EnterGuard {
        let enter = |entered: &RefCell<_>| entered.replace(Some(self.clone()));
        EnterGuard {
            previous: ENTERED.with(enter),
            _on_its_thread: std::marker::PhantomData,
        }
    }

    /// Ends the wait that's under way in the driver, or the next one.
    pub fn unpark(&self) {
        self.shared.wake_up.unpark();
    }

    /// Returns `true` if the driver has ended.
    pub fn is_shut_down(&self) -> bool {
        // Acquire: pairs with the Release in the driver's `shut_down`.
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

    /// To be called before the source is closed. After that its descriptor is
    /// another's, or the system goes on to report a duplicate of it.
    pub fn deregister(&self, source: &mut impl Source) {
        let shared = &self.handle.shared;
        // It fails if the source isn't registered, which is what we want.
        let _ = shared.registry.deregister(source);
        // From here on an event that was fetched before finds nothing.
        shared.registrations().remove(self.key);
    }
}

impl Shared {
    pub fn registrations(&self) -> MutexGuard<'_, Registrations> {
        let registrations = self.registrations.lock();
        registrations.unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes all that wait. What comes later is refused.
    pub fn shut_down(&self) {
        // Release: pairs with the Acquire in `Handle::is_shut_down`.
        self.is_shut_down.store(true, Release);
        let registered = self.registrations().shut_down();
        for registered in registered {
            wake(|| registered.readiness.shut_down());
        }
    }
}

/// While it lives, [`Handle::current`] gives the handle that was entered.
#[must_use = "dropped, it leaves the driver"]
pub struct EnterGuard {
    previous: Option<Handle>,
    /// It stays on its thread.
    _on_its_thread: std::marker::PhantomData<*const ()>,
}

impl Drop for EnterGuard {
    fn drop(&mut self) {
        let previous = self.previous.take();
        let entered = ENTERED.with(|entered| entered.replace(previous));
        drop(entered);
    }
}
