//! What a worker may wait in instead of its parker: a driver, for what comes
//! from outside of the process. One worker at a time has it.

use std::any::Any;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, PoisonError};

use primitives::atomic::{
    AtomicUsize,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
    fence,
};
use primitives::{Mutex, MutexGuard};

use super::context;

/// Waits for events, such as input or the passing of time, and wakes the tasks
/// that they concern: see [`Builder::build_on`](super::Builder::build_on).
///
/// A worker that has nothing to do calls [`wait`](Self::wait), and a busy one
/// calls [`look`](Self::look) now and then. Each then calls
/// [`dispatch`](Self::dispatch), in which the wakers of the tasks are called:
/// not before, because a worker that waits counts as parked.
///
/// None of the methods may panic.
pub trait Driver: Send {
    /// Returns what ends a [`wait`](Self::wait): the one that is under way, or
    /// the next one if there's none. It may be called on any thread, also after
    /// the driver is gone. What happens before the call happens before the
    /// return of that `wait`.
    fn unparker(&self) -> Box<dyn Fn() + Send + Sync>;

    /// Returns what tasks use the driver by: [`driver_handle`] gives it to them.
    fn handle(&self) -> Arc<dyn Any + Send + Sync>;

    /// Waits until there are events, or the unparker was called since the last
    /// `wait` returned. It may also return for no reason.
    fn wait(&mut self);

    /// Looks for events without waiting.
    fn look(&mut self);

    /// Wakes the tasks that at most `most` of the events concern. Returns
    /// `true` if there are more events.
    fn dispatch(&mut self, most: usize) -> bool;

    /// The runtime has ended, so no worker will wait again: tells all that wait
    /// for events. It's the last call.
    fn shut_down(&mut self);
}

/// The place of the worker that waits in the driver, or looks at it.
///
/// *Memory ordering.* The occupant is an atomic beside the mutex, because three
/// arguments need a single location with fences around it:
///
/// - *An unpark isn't lost.* A worker becomes the occupant, and then checks its
///   parker's token; the other thread leaves the token, and then looks for the
///   occupant. A `SeqCst` fence is between the two on both sides.
/// - *The seat isn't left empty.* A worker counts as parked, and then tries to
///   take the seat; an occupant frees the seat, and then looks whether a worker
///   is parked. The fences in [`Sleepers`](super::sleepers::Sleepers) are
///   between the two.
/// - What an occupant did to the driver is seen by the next one: the mutex does
///   that. It's never contended.
pub struct DriverSeat {
    /// [`FREE`], or one more than the worker's index.
    occupant: AtomicUsize,
    driver: Mutex<Box<dyn Driver>>,
    unpark: Box<dyn Fn() + Send + Sync>,
    handle: Arc<dyn Any + Send + Sync>,
}

const FREE: usize = 0;

impl DriverSeat {
    pub fn new(driver: Box<dyn Driver>) -> Self {
        Self {
            occupant: AtomicUsize::new(FREE),
            unpark: driver.unparker(),
            handle: driver.handle(),
            driver: Mutex::new(driver),
        }
    }

    /// Takes the seat for this worker, if it's free.
    pub fn try_take(&self, worker: usize) -> Option<Occupant<'_>> {
        // Relaxed: a guess, so that busy workers don't write to the line while
        // another one waits. A worker that parks has a fence before it, which
        // orders this load as well as the exchange.
        if self.occupant.load(Relaxed) != FREE {
            return None;
        }
        // Acquire: pairs with the Release in `Occupant`'s destructor; the mutex is
        // free now.
        let taken =
            self.occupant
                .compare_exchange(FREE, worker + 1, Acquire, Relaxed);
        taken.ok()?;
        Some(Occupant {
            driver: Some(self.lock()),
            seat: self,
        })
    }

    /// To be called after the worker's parker has got a token: ends its wait in
    /// the driver, if that's where it waits.
    pub fn unpark(&self, worker: usize) {
        // SeqCst: pairs with the fence in `Occupant::announce`. Here the token
        // comes first, then the occupant; there the occupant comes first, then
        // the token.
        // Model: `an_unpark_in_the_driver_is_not_lost`.
        fence(SeqCst);
        // Relaxed: the fence orders it.
        if self.occupant.load(Relaxed) == worker + 1 {
            (self.unpark)();
        }
    }

    /// Tells all that wait for events that none will come. No worker runs.
    pub fn shut_down(&self) {
        self.lock().shut_down();
    }

    fn lock(&self) -> MutexGuard<'_, Box<dyn Driver>> {
        self.driver.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A worker that has the driver. The seat is free when this is dropped, and
/// then the worker must see to it that a worker that's parked takes it.
pub struct Occupant<'a> {
    seat: &'a DriverSeat,
    /// Only empty in the destructor.
    driver: Option<MutexGuard<'a, Box<dyn Driver>>>,
}

impl Occupant<'_> {
    /// To be called before the worker checks its parker's token for the last
    /// time, and waits.
    pub fn announce(&self) {
        // SeqCst: pairs with the fence in `DriverSeat::unpark`, see there.
        fence(SeqCst);
    }
}

impl Deref for Occupant<'_> {
    type Target = dyn Driver;

    fn deref(&self) -> &Self::Target {
        let driver = self.driver.as_ref();
        &***driver.expect("it's there until the end")
    }
}

impl DerefMut for Occupant<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        let driver = self.driver.as_mut();
        &mut ***driver.expect("it's there until the end")
    }
}

impl Drop for Occupant<'_> {
    fn drop(&mut self) {
        self.driver = None;
        // Release: pairs with the Acquire in `try_take`; the next one finds the
        // mutex free.
        self.seat.occupant.store(FREE, Release);
    }
}

/// Returns what [`Driver::handle`] returned for the runtime that this thread has
/// entered. `None` if there's no such runtime, or if it has no driver.
pub fn driver_handle() -> Option<Arc<dyn Any + Send + Sync>> {
    // SAFETY: what was entered is kept by an `EnterGuard` that is still there,
    // and no code of the user's runs here.
    let shared = unsafe { context::current().as_ref() }?;
    Some(shared.driver.as_ref()?.handle.clone())
}
