//! Breaks clause 2: In time.
//! Caught by: a_sleep_that_was_woken_is_ready
//! Also fails: a_sleep_that_is_over_does_nothing_to_younger_ones
//! Also fails: a_poll_that_races_with_fire_is_woken_or_ready
//! Also fails: a_waker_that_panics_hinders_nobody
//! Also fails: a_waker_that_panics_when_it_is_cloned_hinders_no_other
//! Also fails: a_waker_that_panics_when_it_is_dropped_hinders_no_other
//! Also fails: sleeps_of_one_deadline_are_all_woken
//! Also fails: what_a_waker_throws_may_panic_in_turn
//!
//! Looks at std's clock when it is polled, as many futures of timers do. Whoever
//! drives the timers has said what time it is, and it may not be std's: a test
//! that lets a year pass, or a driver that looks at the clock once a turn.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use sync::{Arc, Mutex};

use super::{Rouse, call};

/// A deadline, and a number.
type Key = (Instant, u64);

/// All who sleep, and until when.
pub struct Timers {
    shared: Arc<Shared>,
}

struct Shared {
    rouse: Rouse,
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
    /// It will look again before it sleeps.
    Looks,
    /// It sleeps until then.
    SleepsUntil(Instant),
    /// It sleeps until it is roused.
    #[default]
    Sleeps,
}

impl Timers {
    /// Makes timers for which nobody waits.
    pub fn new(rouse: impl Fn() + Send + Sync + 'static) -> Self {
        let rouse = Box::new(rouse);
        let state = Mutex::default();
        Self {
            shared: Arc::new(Shared { rouse, state }),
        }
    }

    /// Makes a sleep that ends when [`fire`](Self::fire) is told `deadline`.
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

    /// Wakes all that is due at `now`, and returns when to call it again.
    pub fn fire(&self, now: Instant) -> Option<Instant> {
        loop {
            let mut state = self.shared.state.lock().unwrap();
            let Some(&next) = state.sleeps.keys().next() else {
                state.driver = Driver::Sleeps;
                return None;
            };
            if next.0 > now {
                state.driver = Driver::SleepsUntil(next.0);
                return Some(next.0);
            }
            let waker = state.sleeps.remove(&next);
            state.driver = Driver::Looks;
            drop(state);
            waker.into_iter().for_each(call);
        }
    }
}

/// A future that is ready when its deadline has come.
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
        let must_rouse = match state.driver {
            Driver::Looks => false,
            Driver::SleepsUntil(other) => deadline < other,
            Driver::Sleeps => true,
        };
        if must_rouse {
            state.driver = Driver::SleepsUntil(deadline);
            drop(state);
            (self.shared.rouse)();
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
        if let Some(kept) = kept {
            std::mem::swap(kept, &mut waker);
        }
        drop(state);
        if Instant::now() < deadline {
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
