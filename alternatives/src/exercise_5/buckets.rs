//! Another correct design: deadlines are rounded up to a quarter of a
//! millisecond, and all sleeps of one bucket end together. A bucket is a table
//! by number, so that dropping a sleep is quick no matter how many others end
//! with it.

use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use primitives::{Arc, Mutex};

use super::{Unpark, call};

/// A bucket, and a number.
type Key = (Instant, u64);

/// How much time falls into a bucket.
const BUCKET: u64 = 250_000;

/// The time at which the first bucket ends.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The end of the bucket that `deadline` falls into: not before it, and less
/// than a bucket after it.
fn round_up(deadline: Instant) -> Instant {
    let since = deadline.saturating_duration_since(*START);
    let over = (since.as_nanos() % u128::from(BUCKET)) as u64;
    let more = Duration::from_nanos((BUCKET - over) % BUCKET);
    deadline.checked_add(more).unwrap_or(deadline)
}

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
    buckets: BTreeMap<Instant, HashMap<u64, Waker>>,
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
            let Some(mut first) = state.buckets.first_entry() else {
                state.driver = Driver::Sleeps;
                return None;
            };
            let end = *first.key();
            if end > now {
                state.driver = Driver::SleepsUntil(end);
                return Some(end);
            }
            let number = first.get().keys().next().copied();
            let number = number.expect("no bucket is empty");
            let waker = first.get_mut().remove(&number);
            let waker = waker.expect("its number was there");
            if first.get().is_empty() {
                first.remove();
            }
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
        let deadline = round_up(deadline);
        let number = state.begun_count;
        let bucket = state.buckets.entry(deadline).or_default();
        bucket.insert(number, waker);
        self.key = Some((deadline, number));
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
        let bucket = state.buckets.get_mut(&key.0);
        let kept = bucket.and_then(|bucket| bucket.get_mut(&key.1));
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
        let Some((end, number)) = self.key else {
            return;
        };
        let mut state = self.shared.state.lock().unwrap();
        let Some(bucket) = state.buckets.get_mut(&end) else {
            return;
        };
        let waker = bucket.remove(&number);
        if bucket.is_empty() {
            state.buckets.remove(&end);
        }
        drop(state);
        drop(waker);
    }
}

super::process_timers!();

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/05-sleep/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/05-sleep/src/tests/mod.rs"]
mod tests;
