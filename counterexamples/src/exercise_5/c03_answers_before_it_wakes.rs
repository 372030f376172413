//! Breaks clause 3: Earlier ones interrupt.
//! Caught by: a_sleep_begun_while_fire_runs_is_not_overslept
//! Also fails: callers_that_come_at_once_start_one_thread
//! Also fails: a_short_sleep_interrupts_a_long_one
//! Also fails: a_sleep_lasts_at_least_its_duration
//! Also fails: a_sleep_may_last_forever
//! Also fails: a_sleep_may_move_to_another_thread
//! Also fails: a_waker_that_drops_sleeps_due_with_its_own_is_the_last
//! Also fails: ten_thousand_sleeps_share_one_thread
//! Also fails: the_thread_does_not_spin_toward_a_deadline
//! Also fails: the_timer_thread_survives_a_waker_that_panics
//! Also fails: what_is_due_already_is_ready_or_woken_at_once
//! Also fails: models::a_sleep_that_begins_as_fire_ends_is_not_overslept_in_any_order
//! Also fails: models::an_earlier_deadline_interrupts_in_every_order
//! Also fails: an_unpark_before_fire_is_not_one_for_a_sleep_begun_meanwhile
//!
//! Takes out all that is due at once, and computes its result while it holds
//! the lock. Then it wakes. A sleep that a waker begins comes too late for the
//! result, and finds a driver that is awake, which doesn't seem to need an
//! unpark.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use primitives::{Arc, Mutex};

use super::{Unpark, call};

/// A deadline, and a number.
type Key = (Instant, u64);

/// All sleeps that wait, and until when.
pub struct Timers {
    shared: Arc<Shared>,
}

struct Shared {
    unpark: Unpark,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    sleeps: BTreeMap<Key, Waker>,
    begun_count: u64,
    driver: Driver,
}

/// What the driver does.
#[derive(Default)]
enum Driver {
    /// It looks again before it sleeps.
    Looks,
    /// It sleeps until then.
    SleepsUntil(Instant),
    /// It sleeps until it is unparked.
    #[default]
    Sleeps,
}

impl Timers {
    /// Creates timers for which no sleep waits.
    pub fn new(unpark: impl Fn() + Send + Sync + 'static) -> Self {
        let unpark = Box::new(unpark);
        let state = Mutex::default();
        Self {
            shared: Arc::new(Shared { unpark, state }),
        }
    }

    /// Creates a sleep that ends when `deadline` or a later time is passed to
    /// [`fire`](Self::fire).
    pub fn sleep_until(&self, deadline: Instant) -> Sleep {
        self.sleep(Some(deadline))
    }

    fn sleep(&self, deadline: Option<Instant>) -> Sleep {
        Sleep {
            shared: self.shared.clone(),
            deadline,
            key: None,
        }
    }

    /// Wakes all sleeps that are due at `now`, and returns when to call it
    /// again.
    // ANCHOR: bug
    pub fn fire(&self, now: Instant) -> Option<Instant> {
        let mut state = self.shared.state.lock().unwrap();
        let later = state.sleeps.split_off(&(now, u64::MAX));
        let due = std::mem::replace(&mut state.sleeps, later);
        // ANCHOR: guilty
        let next = state.sleeps.keys().next().map(|key| key.0);
        // ANCHOR_END: guilty
        state.driver = Driver::Looks;
        drop(state);
        due.into_values().for_each(call);
        // ANCHOR: guilty_2
        self.shared.state.lock().unwrap().driver = match next {
        // ANCHOR_END: guilty_2
            Some(deadline) => Driver::SleepsUntil(deadline),
            None => Driver::Sleeps,
        };
        next
    }
    // ANCHOR_END: bug
}

/// A future that is ready once its deadline has come.
pub struct Sleep {
    shared: Arc<Shared>,
    deadline: Option<Instant>,
    key: Option<Key>,
}

impl Sleep {
    /// When the sleep ends; `None` if never.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn begin(&mut self, deadline: Instant, waker: Waker) {
        let mut state = self.shared.state.lock().unwrap();
        state.begun_count += 1;
        let key = (deadline, state.begun_count);
        state.sleeps.insert(key, waker);
        self.key = Some(key);
        let must_unpark = match state.driver {
            Driver::Looks => false,
            Driver::SleepsUntil(other) => deadline < other,
            Driver::Sleeps => true,
        };
        if must_unpark {
            state.driver = Driver::SleepsUntil(deadline);
            drop(state);
            (self.shared.unpark)();
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(deadline) = self.deadline else {
            return Poll::Pending;
        };
        let mut waker = cx.waker().clone();
        let Some(key) = self.key else {
            self.begin(deadline, waker);
            return Poll::Pending;
        };
        let mut state = self.shared.state.lock().unwrap();
        let kept = state.sleeps.get_mut(&key);
        let is_waiting =
            kept.map(|kept| std::mem::swap(kept, &mut waker)).is_some();
        drop(state);
        if is_waiting {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let waker = self.shared.state.lock().unwrap().sleeps.remove(&key);
            drop(waker);
        }
    }
}

super::process_timers!();

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/05-sleep/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/05-sleep/src/tests/mod.rs"]
mod tests;
