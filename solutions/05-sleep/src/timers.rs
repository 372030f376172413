//! Who sleeps until when. No thread and no clock: whoever drives the timers
//! says what time it is.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LazyLock, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

use primitives::{Arc, Mutex, MutexGuard};

use super::Sleep;
use super::wheel::{Key, Wheel};

/// A tick is so many bits of nanoseconds: about a quarter of a millisecond.
const TICK_BITS: u32 = 18;

/// A place among those who wait.
pub(crate) type Place = Key;

/// All who sleep, and until when. Somebody drives them: calls
/// [`fire`](Self::fire), waits until the time that it returned or until
/// `rouse` is called, and calls it again.
#[derive(Clone)]
pub struct Timers {
    shared: Arc<Shared>,
}

struct Shared {
    rouse: Box<dyn Fn() + Send + Sync>,
    state: Mutex<State>,
}

struct State {
    wheel: Wheel<Waker>,
    /// The tick at which the driver looks again by itself: 0 while it is at
    /// it, `u64::MAX` if never. Whoever is due earlier has to rouse it, and
    /// says so here, for those who come next.
    looks_at: u64,
}

impl Timers {
    /// Makes timers for which nobody waits. They call `rouse` when whoever
    /// drives them must call [`fire`](Self::fire) earlier than it said.
    ///
    /// `rouse` is called in the polls of sleeps: it should be quick, and must
    /// not panic.
    pub fn new(rouse: impl Fn() + Send + Sync + 'static) -> Self {
        let state = Mutex::new(State {
            wheel: Wheel::new(),
            looks_at: u64::MAX,
        });
        let rouse = Box::new(rouse);
        Self {
            shared: Arc::new(Shared { rouse, state }),
        }
    }

    /// Makes a sleep that ends when [`fire`](Self::fire) is told `deadline` or
    /// a later time.
    pub fn sleep_until(&self, deadline: Instant) -> Sleep {
        Sleep::new(self.clone(), Some(deadline))
    }

    pub(crate) fn sleep_for_ever(&self) -> Sleep {
        Sleep::new(self.clone(), None)
    }

    /// Wakes all that is due at `now`, and returns when to call it again.
    // ANCHOR: fire
    pub fn fire(&self, now: Instant) -> Option<Instant> {
        let tick = nanoseconds(now) >> TICK_BITS;
        loop {
            // One at a time: its waker may drop the sleep that is next, which
            // then must not be woken.
            let taken = self.lock().take_due(tick);
            match taken {
                Due::Now(waker) => wake(waker),
                Due::Later(next) => return next.and_then(time_of),
            }
        }
    }
    // ANCHOR_END: fire

    /// Begins to wait. `None` if `deadline` has come already.
    pub(crate) fn enter(
        &self,
        deadline: Instant,
        waker: &Waker,
    ) -> Option<Place> {
        // Rounded up: rather late than early.
        let tick = nanoseconds(deadline).div_ceil(1 << TICK_BITS);
        let waker = waker.clone();
        let mut state = self.lock();
        let entered = state.wheel.insert(tick, waker);
        let must_rouse = entered.is_ok() && tick < state.looks_at;
        if must_rouse {
            state.looks_at = tick;
        }
        drop(state);
        if must_rouse {
            (self.shared.rouse)();
        }
        entered.ok()
    }

    /// Goes on waiting, with `waker`. `None` if the sleep has fired.
    pub(crate) fn stay(&self, place: Place, waker: &Waker) -> Option<Place> {
        if self.lock().wheel.get_mut(place)?.will_wake(waker) {
            return Some(place);
        }
        // A clone, and the drop of the older waker, may run any code: neither
        // happens under the lock. Meanwhile the sleep may have fired.
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
        // Not under the lock, which the line above has given back.
        drop(waker);
    }

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
    /// Takes out one that is due at `tick`.
    fn take_due(&mut self, tick: u64) -> Due {
        if let Some(waker) = self.wheel.pop_due(tick) {
            self.looks_at = 0;
            return Due::Now(waker);
        }
        let next = self.wheel.next_tick();
        // The look and the promise are one step for all others.
        self.looks_at = next.unwrap_or(u64::MAX);
        Due::Later(next)
    }
}

/// A panic is the waker's own affair, and not of the others.
fn wake(waker: Waker) {
    let woken = catch_unwind(AssertUnwindSafe(|| waker.wake()));
    // What was thrown may panic in turn when it is dropped.
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(woken)));
    dropped.unwrap_or_else(mem::forget);
}

/// When tick 0 began.
static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Nanoseconds since tick 0: up to five centuries, which stand for more.
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
