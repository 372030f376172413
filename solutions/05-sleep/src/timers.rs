//! Which sleeps wait, and until when. There's no thread and no clock: the
//! driver passes the time.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LazyLock, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

use primitives::{Arc, Mutex, MutexGuard};

use super::Sleep;
use super::wheel::{Key, Wheel};

/// The number of low bits of a time in nanoseconds that a tick leaves out: it's
/// about a quarter of a millisecond.
const TICK_BITS: u32 = 18;

/// The place of a sleep that waits.
pub(crate) type Place = Key;

/// All sleeps that wait, and until when. A *driver* calls [`fire`](Self::fire),
/// waits until the time that it returned or until `unpark` is called, and then
/// calls it again.
#[derive(Clone)]
pub struct Timers {
    shared: Arc<Shared>,
}

/// On cache lines of its own, for drivers that have several `Timers`.
#[repr(align(128))]
struct Shared {
    unpark: Box<dyn Fn() + Send + Sync>,
    state: Mutex<State>,
}

struct State {
    wheel: Wheel<Waker>,
    /// The tick at which the driver looks again without being unparked: 0 while
    /// it is looking, `u64::MAX` if never. A sleep that is due earlier has to
    /// unpark the driver, and then stores its own tick here, for the sleeps
    /// that come next.
    looks_at: u64,
}

impl Timers {
    /// Creates timers for which no sleep waits. They call `unpark` when the
    /// driver must call [`fire`](Self::fire) earlier than it said.
    ///
    /// `unpark` is called in the polls of sleeps, so it should be quick, and it
    /// must not panic.
    pub fn new(unpark: impl Fn() + Send + Sync + 'static) -> Self {
        let state = Mutex::new(State {
            wheel: Wheel::new(),
            looks_at: u64::MAX,
        });
        let unpark = Box::new(unpark);
        Self {
            shared: Arc::new(Shared { unpark, state }),
        }
    }

    /// Creates a sleep that ends when `deadline` or a later time is passed to
    /// [`fire`](Self::fire).
    pub fn sleep_until(&self, deadline: Instant) -> Sleep {
        Sleep::new(self.clone(), Some(deadline))
    }

    pub(crate) fn sleep_forever(&self) -> Sleep {
        Sleep::new(self.clone(), None)
    }

    /// Wakes all sleeps that are due at `now`, and returns when to call it
    /// again.
    // ANCHOR: fire
    pub fn fire(&self, now: Instant) -> Option<Instant> {
        let tick = nanoseconds(now) >> TICK_BITS;
        loop {
            // One at a time: its waker may drop the next sleep, which must not
            // be woken then.
            let taken = self.lock().take_due(tick);
            match taken {
                Due::Now(waker) => wake(waker),
                Due::Later(next) => return next.and_then(time_of),
            }
        }
    }
    // ANCHOR_END: fire

    /// Begins to wait. Returns `None` if `deadline` has come already.
    pub(crate) fn enter(
        &self,
        deadline: Instant,
        waker: &Waker,
    ) -> Option<Place> {
        // Rounded up, because late is better than early.
        let tick = nanoseconds(deadline).div_ceil(1 << TICK_BITS);
        let waker = waker.clone();
        let mut state = self.lock();
        let entered = state.wheel.insert(tick, waker);
        let must_unpark = entered.is_ok() && tick < state.looks_at;
        if must_unpark {
            state.looks_at = tick;
        }
        drop(state);
        if must_unpark {
            (self.shared.unpark)();
        }
        entered.ok()
    }

    /// Goes on waiting, with `waker`. Returns `None` if the sleep has fired.
    pub(crate) fn stay(&self, place: Place, waker: &Waker) -> Option<Place> {
        if self.lock().wheel.get_mut(place)?.will_wake(waker) {
            return Some(place);
        }
        // Cloning the waker and dropping the older one may run any code, so
        // neither happens under the lock. Meanwhile the sleep may have fired.
        let mut waker = waker.clone();
        let mut state = self.lock();
        let kept = state.wheel.get_mut(place);
        let is_waiting = kept.map(|kept| mem::swap(kept, &mut waker)).is_some();
        drop(state);
        is_waiting.then_some(place)
    }

    /// Stops waiting.
    pub(crate) fn leave(&self, place: Place) {
        let waker = self.lock().wheel.remove(place);
        // Not under the lock, which the line above has released.
        drop(waker);
    }

    // A model's failing order shows who locks.
    #[track_caller]
    fn lock(&self) -> MutexGuard<'_, State> {
        let state = self.shared.state.lock();
        state.unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the driver has to do.
enum Due {
    Now(Waker),
    /// Nothing before this tick, or ever.
    Later(Option<u64>),
}

impl State {
    /// Takes out one waker that is due at `tick`.
    fn take_due(&mut self, tick: u64) -> Due {
        if let Some(waker) = self.wheel.pop_due(tick) {
            self.looks_at = 0;
            return Due::Now(waker);
        }
        let next = self.wheel.next_tick();
        // For all other threads, the look and the promise are one step.
        self.looks_at = next.unwrap_or(u64::MAX);
        Due::Later(next)
    }
}

/// A waker's panic doesn't concern the other wakers.
fn wake(waker: Waker) {
    let woken = catch_unwind(AssertUnwindSafe(|| waker.wake()));
    // The panic's payload may itself panic when it is dropped.
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(woken)));
    dropped.unwrap_or_else(mem::forget);
}

/// When tick 0 began.
static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Nanoseconds since tick 0, capped at about five centuries.
fn nanoseconds(time: Instant) -> u64 {
    let passed = time.saturating_duration_since(*EPOCH);
    let seconds = passed.as_secs().saturating_mul(1_000_000_000);
    seconds.saturating_add(passed.subsec_nanos().into())
}

/// When `tick` begins; `None` after five centuries.
fn time_of(tick: u64) -> Option<Instant> {
    let since_epoch = tick.checked_mul(1 << TICK_BITS)?;
    EPOCH.checked_add(Duration::from_nanos(since_epoch))
}
