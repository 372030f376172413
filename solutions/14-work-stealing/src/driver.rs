//! A driver waits for events from outside the process. A worker may wait in the
//! driver instead of its parker; one worker at a time has the driver.

use std::any::Any;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use primitives::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
    fence,
};
use primitives::{Mutex, MutexGuard};

use super::context;

/// Waits for events, such as input or the passing of time, and wakes the tasks
/// that wait for them: see [`Builder::build_on`](super::Builder::build_on).
///
/// A worker without work calls [`wait`](Self::wait), and a busy worker calls
/// [`look`](Self::look) now and then. Each then calls
/// [`dispatch`](Self::dispatch), which wakes the tasks. `wait` itself must not
/// wake any, because a worker that waits counts as parked.
///
/// The methods must not panic.
pub trait Driver: Send {
    /// Returns the unparker, a function that ends the current
    /// [`wait`](Self::wait), or the next one if no worker waits. Any thread may
    /// call the unparker, even after the driver was dropped. Everything before
    /// the call happens before the return of that `wait`.
    fn unparker(&self) -> Box<dyn Fn() + Send + Sync>;

    /// Returns the handle by which tasks use the driver. They get it from
    /// [`driver_handle`].
    fn handle(&self) -> Arc<dyn Any + Send + Sync>;

    /// Blocks the thread until there are events, or until the unparker has been
    /// called since the last `wait` returned. It may also return spuriously.
    fn wait(&mut self);

    /// Looks for events without blocking.
    fn look(&mut self);

    /// Wakes the tasks that wait for at most `most` of the events. Returns
    /// `true` if there are more events.
    fn dispatch(&mut self, most: usize) -> bool;

    /// Shuts the driver down: tasks that wait for events have to learn that no
    /// event will come. The runtime makes this call last, when no worker runs.
    fn shut_down(&mut self);
}

/// The driver's seat: its occupant is the worker that waits in the driver or
/// looks at it.
///
/// *Memory ordering.* The occupant is an atomic beside the mutex, because the
/// first three of these arguments need one location with fences around it:
///
/// - *No unpark is lost.* A worker becomes the occupant and then checks its
///   parker's token. The thread that unparks it leaves the token and then loads
///   the occupant. On both sides, a `SeqCst` fence stands between the two
///   steps.
/// - *The seat isn't left empty.* A worker counts as parked and then tries to
///   take the seat. An occupant frees the seat and then looks for a parked
///   worker. The fences in [`Sleepers`](super::sleepers::Sleepers) stand
///   between the two steps.
/// - *A watch replaces a notification.* A worker ends its watch and then looks
///   at the seat. An occupant frees the seat and then looks for a watch, with a
///   fence on both sides.
/// - *The driver's state.* The mutex shows each occupant what the one before
///   did to the driver. The mutex is never contended.
pub struct DriverSeat {
    /// [`FREE`], or one more than the worker's index.
    occupant: AtomicUsize,
    /// Set while a parked worker watches the seat: every five milliseconds, it
    /// checks whether the seat is free.
    is_watched: AtomicBool,
    departures: AtomicUsize,
    /// The worker that serves the driver alone: one more than its index, or
    /// [`FREE`].
    alone: AtomicUsize,
    /// Until when the machine counts as crowded, in milliseconds since `made`.
    crowded_until: AtomicUsize,
    made: Instant,
    driver: Mutex<Box<dyn Driver>>,
    unpark: Box<dyn Fn() + Send + Sync>,
    handle: Arc<dyn Any + Send + Sync>,
}

const FREE: usize = 0;

impl DriverSeat {
    pub fn new(driver: Box<dyn Driver>) -> Self {
        Self {
            occupant: AtomicUsize::new(FREE),
            is_watched: AtomicBool::new(false),
            departures: AtomicUsize::new(0),
            alone: AtomicUsize::new(FREE),
            crowded_until: AtomicUsize::new(0),
            made: Instant::now(),
            unpark: driver.unparker(),
            handle: driver.handle(),
            driver: Mutex::new(driver),
        }
    }

    /// Takes the seat for this worker, if it's free.
    pub fn try_take(&self, worker: usize) -> Option<Occupant<'_>> {
        // Relaxed: a guess, so that busy workers don't write to the cache line
        // while another worker waits. A parking worker's fence comes before,
        // and orders this load as well as the compare-exchange.
        if self.occupant.load(Relaxed) != FREE {
            return None;
        }
        // Acquire: pairs with the Release in `Occupant`'s destructor; the mutex
        // is unlocked now.
        let taken =
            self.occupant
                .compare_exchange(FREE, worker + 1, Acquire, Relaxed);
        taken.ok()?;
        Some(Occupant {
            driver: Some(self.lock()),
            seat: self,
        })
    }

    /// Ends the worker's wait, if it waits in the driver. The caller must have
    /// left a token in the worker's parker before.
    pub fn unpark(&self, worker: usize) {
        // SeqCst: pairs with the fence in `Occupant::announce`. This side
        // stores the token and then loads the occupant. The other side stores
        // the occupant and then checks the token.
        // Model: `an_unpark_in_the_driver_is_not_lost`.
        fence(SeqCst);
        // Relaxed: the fence orders it.
        if self.occupant.load(Relaxed) == worker + 1 {
            (self.unpark)();
        }
    }

    /// Makes the caller the worker that watches the seat, unless there's one
    /// already.
    pub fn begin_watch(&self) -> bool {
        // Relaxed: a worker that doesn't see it notifies one more worker.
        !self.is_watched.swap(true, Relaxed)
    }

    /// Ends the caller's watch. Returns `true` if the seat is free: the caller
    /// must then try to take it, because an occupant that left may have relied
    /// on the watch.
    pub fn end_watch(&self) -> bool {
        // Relaxed: the fence orders it.
        self.is_watched.store(false, Relaxed);
        // SeqCst: pairs with the fence in `is_watched_after_departure`. This
        // side ends the watch and then looks at the seat. The other side frees
        // the seat and then looks for a watch.
        // Model: `a_watch_and_a_departure_do_not_miss_each_other`.
        fence(SeqCst);
        self.is_free()
    }

    /// The worker that calls this has left the seat with work. Returns `true`
    /// if another worker watches the seat.
    pub fn is_watched_after_departure(&self) -> bool {
        // Relaxed: only a number, which tells the watch whether to go on.
        self.departures.fetch_add(1, Relaxed);
        // SeqCst: pairs with the fence in `end_watch`; see there.
        fence(SeqCst);
        // Relaxed: the fence orders it.
        self.is_watched.load(Relaxed)
    }

    /// Returns `true` if a worker watches the seat: a guess.
    pub fn is_watched(&self) -> bool {
        // Relaxed: the worker asks again after its departure.
        self.is_watched.load(Relaxed)
    }

    /// From now on this worker serves the driver alone, or doesn't.
    pub fn set_alone(&self, worker: usize, is_alone: bool) {
        if is_alone == self.is_alone(worker) {
            return;
        }
        // Relaxed, here and below: a hint. A worker that follows an old one
        // watches the seat, or takes it although another one would come back.
        let alone = if is_alone { worker + 1 } else { FREE };
        self.alone.store(alone, Relaxed);
    }

    /// Returns `true` if this worker serves the driver alone.
    pub fn is_alone(&self, worker: usize) -> bool {
        self.alone.load(Relaxed) == worker + 1
    }

    /// Returns `true` if another worker serves the driver alone, and will come
    /// back to it.
    pub fn is_left_to_another(&self, worker: usize) -> bool {
        self.alone.load(Relaxed) != FREE && !self.is_alone(worker)
    }

    /// No worker serves the driver alone from now on.
    pub fn end_alone(&self) {
        self.alone.store(FREE, Relaxed);
    }

    /// Returns when the seat was made.
    pub fn made(&self) -> Instant {
        self.made
    }

    /// Notes until when the machine counts as crowded, if it does.
    pub fn set_crowded(&self, until: Option<Instant>) {
        let until = until.map_or(0, |until| self.millis_until(until));
        self.crowded_until.store(until, Relaxed);
    }

    /// Returns `true` if the machine counts as crowded at this time.
    pub fn is_crowded(&self, now: Instant) -> bool {
        self.millis_until(now) < self.crowded_until.load(Relaxed)
    }

    fn millis_until(&self, time: Instant) -> usize {
        time.duration_since(self.made).as_millis() as usize
    }

    /// Returns how often the seat was left with work. The number may wrap.
    pub fn departures(&self) -> usize {
        // Relaxed: a watch that reads an old number ends a little early.
        self.departures.load(Relaxed)
    }

    /// Returns `true` if no worker has the driver.
    pub fn is_free(&self) -> bool {
        // Relaxed: a guess, unless a fence comes before.
        self.occupant.load(Relaxed) == FREE
    }

    /// Shuts the driver down. The caller must make sure that no worker runs.
    pub fn shut_down(&self) {
        self.lock().shut_down();
    }

    fn lock(&self) -> MutexGuard<'_, Box<dyn Driver>> {
        self.driver.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A worker's hold on the driver. Dropping it frees the seat. The worker must
/// then make sure that a parked worker, if there is one, takes the seat.
pub struct Occupant<'a> {
    seat: &'a DriverSeat,
    /// `None` only in the destructor.
    driver: Option<MutexGuard<'a, Box<dyn Driver>>>,
}

impl Occupant<'_> {
    /// The worker must call this before it checks its parker's token for the
    /// last time and then waits.
    pub fn announce(&self) {
        // SeqCst: pairs with the fence in `DriverSeat::unpark`; see there.
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
        // Release: pairs with the Acquire in `try_take`; the next occupant
        // finds the mutex unlocked.
        self.seat.occupant.store(FREE, Release);
    }
}

/// Returns the [handle](Driver::handle) of the driver of the runtime that this
/// thread has entered. Returns `None` if the thread has entered no runtime, or
/// if the runtime has no driver.
pub fn driver_handle() -> Option<Arc<dyn Any + Send + Sync>> {
    map_driver_handle(Arc::clone)
}

/// Calls `map` with what the [`driver_handle`] points to. Also returns `None`
/// if that isn't a `T`.
///
/// Unlike `driver_handle`, it doesn't touch the handle's reference count, which
/// all workers share.
pub fn map_driver_handle_as<T: 'static, R>(
    map: impl FnOnce(&T) -> R + 'static,
) -> Option<R> {
    map_driver_handle(|handle| handle.downcast_ref().map(map))?
}

fn map_driver_handle<R>(
    map: impl FnOnce(&Arc<dyn Any + Send + Sync>) -> R + 'static,
) -> Option<R> {
    // SAFETY: as for `expect_current`. An `EnterGuard` keeps what this thread
    // has entered alive. The only foreign code that runs meanwhile is `map`. It
    // is `'static`, so a guard within its reach has borrowed its runtime
    // forever.
    let shared = unsafe { context::current().as_ref() }?;
    Some(map(&shared.driver.as_ref()?.handle))
}
