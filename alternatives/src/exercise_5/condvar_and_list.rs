//! Another correct design: a sorted list, in which each new deadline searches
//! for its place, and a thread that waits on a condition variable. The sleep
//! itself reads the clock, so it may be ready before it is woken.

use std::pin::Pin;
use std::sync::{LazyLock, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use primitives::{Arc, Condvar, Mutex, MutexGuard};

use super::{Unpark, call};

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
    /// The last is due first.
    entries: Vec<Entry>,
    begun_count: u64,
    /// When the driver looks again: `None` if it has to be unparked.
    looks_at: Option<Instant>,
}

struct Entry {
    deadline: Instant,
    number: u64,
    waker: Waker,
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
            number: None,
        }
    }

    /// Wakes all sleeps that are due at `now`, and returns when to call it
    /// again.
    pub fn fire(&self, now: Instant) -> Option<Instant> {
        loop {
            let mut state = self.shared.lock();
            state.looks_at = state.entries.last().map(|entry| entry.deadline);
            if state.looks_at.is_none_or(|next| next > now) {
                return state.looks_at;
            }
            let due = state.entries.pop();
            drop(state);
            due.into_iter().for_each(|entry| call(entry.waker));
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an entry. Calls `unpark` if the driver would look too late.
    fn add(&self, deadline: Instant, waker: Waker) -> u64 {
        let mut state = self.lock();
        state.begun_count += 1;
        let number = state.begun_count;
        let place = state.entries.partition_point(|e| e.deadline > deadline);
        let entry = Entry {
            deadline,
            number,
            waker,
        };
        state.entries.insert(place, entry);
        let is_early = state.looks_at.is_none_or(|at| deadline < at);
        drop(state);
        if is_early {
            (self.unpark)();
        }
        number
    }
}

impl State {
    fn find(&self, deadline: Instant, number: u64) -> Option<usize> {
        let start = self.entries.partition_point(|e| e.deadline > deadline);
        let equals = self.entries[start..].iter();
        let found = equals
            .take_while(|e| e.deadline == deadline)
            .position(|e| e.number == number)?;
        Some(start + found)
    }
}

/// A future that is ready once its deadline has come.
pub struct Sleep {
    shared: Arc<Shared>,
    deadline: Option<Instant>,
    number: Option<u64>,
}

impl Sleep {
    /// When the sleep ends; `None` if never.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(deadline) = self.deadline else {
            return Poll::Pending;
        };
        if Instant::now() >= deadline {
            return Poll::Ready(());
        }
        let mut waker = cx.waker().clone();
        let Some(number) = self.number else {
            self.number = Some(self.shared.add(deadline, waker));
            return Poll::Pending;
        };
        let mut state = self.shared.lock();
        let Some(place) = state.find(deadline, number) else {
            return Poll::Ready(());
        };
        std::mem::swap(&mut state.entries[place].waker, &mut waker);
        drop(state);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        let (Some(deadline), Some(number)) = (self.deadline, self.number)
        else {
            return;
        };
        let mut state = self.shared.lock();
        let place = state.find(deadline, number);
        let entry = place.map(|place| state.entries.remove(place));
        drop(state);
        drop(entry);
    }
}

/// Creates a future that is ready once `duration` has passed.
pub fn sleep(duration: Duration) -> Sleep {
    PROCESS.sleep(Instant::now().checked_add(duration))
}

/// Creates a future that is ready once `deadline` has come.
pub fn sleep_until(deadline: Instant) -> Sleep {
    PROCESS.sleep_until(deadline)
}

/// The timers of the process. The thread has to look when the flag is set.
static PROCESS: LazyLock<Arc<Timers>> = LazyLock::new(|| {
    let bell = Arc::new((Mutex::new(false), Condvar::new()));
    let rings = bell.clone();
    let timers = Arc::new(Timers::new(move || {
        *rings.0.lock().unwrap() = true;
        rings.1.notify_one();
    }));
    let driven = timers.clone();
    let thread = std::thread::Builder::new().name("timer".into());
    let started = thread.spawn(move || drive(&driven, &bell));
    started.expect("the timer thread can be started");
    timers
});

fn drive(timers: &Timers, (is_rung, rung): &(Mutex<bool>, Condvar)) {
    loop {
        let next = timers.fire(Instant::now());
        let mut is_set = is_rung.lock().unwrap();
        while !std::mem::take(&mut *is_set) {
            let Some(next) = next else {
                is_set = rung.wait(is_set).unwrap();
                continue;
            };
            let left = next.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            is_set = rung.wait_timeout(is_set, left).unwrap().0;
        }
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/05-sleep/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/05-sleep/src/tests/mod.rs"]
mod tests;
