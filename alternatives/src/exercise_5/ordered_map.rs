//! Another correct design: a map ordered by deadline. A number makes equal
//! deadlines distinct. Beginning a sleep and dropping it take time that grows
//! with the logarithm of the number of sleeps, and the map allocates. However,
//! it needs no rounding, and the code is short.

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
    pub fn fire(&self, now: Instant) -> Option<Instant> {
        loop {
            let mut state = self.shared.state.lock().unwrap();
            let Some(first) = state.sleeps.first_entry() else {
                state.driver = Driver::Sleeps;
                return None;
            };
            let deadline = first.key().0;
            if deadline > now {
                state.driver = Driver::SleepsUntil(deadline);
                return Some(deadline);
            }
            let waker = first.remove();
            state.driver = Driver::Looks;
            drop(state);
            call(waker);
        }
    }
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
