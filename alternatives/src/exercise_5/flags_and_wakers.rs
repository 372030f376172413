//! Another correct design: each sleep has a flag and a waker of its own, which
//! it shares with the list. A poll checks the flag, stores its waker, and
//! checks a second time, while `fire` sets the flag and then takes the waker.
//! As a result, a sleep's polls need the list's lock only once.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use primitives::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};
use primitives::{Arc, Mutex, MutexGuard};

use super::{Unpark, call};

/// A deadline, and a number.
type Key = (Instant, u64);

/// All sleeps that wait, and until when.
pub struct Timers {
    shared: Arc<Shared>,
}

struct Shared {
    unpark: Unpark,
    list: Mutex<List>,
}

#[derive(Default)]
struct List {
    slots: BTreeMap<Key, Arc<Slot>>,
    begun_count: u64,
    /// When the driver looks again: `None` while it is looking.
    looks_at: Option<Instant>,
    /// Whether the driver sleeps until it is unparked.
    is_endless: bool,
}

/// What a sleep shares with the list.
struct Slot {
    has_fired: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Timers {
    /// Creates timers for which no sleep waits.
    pub fn new(unpark: impl Fn() + Send + Sync + 'static) -> Self {
        let list = List {
            is_endless: true,
            ..List::default()
        };
        Self {
            shared: Arc::new(Shared {
                unpark: Box::new(unpark),
                list: Mutex::new(list),
            }),
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
            place: None,
        }
    }

    /// Wakes all sleeps that are due at `now`, and returns when to call it
    /// again.
    pub fn fire(&self, now: Instant) -> Option<Instant> {
        loop {
            let mut list = lock(&self.shared.list);
            let first = list.slots.first_key_value();
            let next = first.map(|(&(deadline, _), _)| deadline);
            if next.is_none_or(|deadline| deadline > now) {
                list.looks_at = next;
                list.is_endless = next.is_none();
                return next;
            }
            list.looks_at = None;
            list.is_endless = false;
            let (_, slot) = list.slots.pop_first().expect("just looked at");
            drop(list);
            // Release: pairs with the Acquire in `poll`.
            slot.has_fired.store(true, Release);
            // A poll that stores its waker after this sees the flag, because of
            // this lock.
            let waker = lock(&slot.waker).take();
            waker.into_iter().for_each(call);
        }
    }
}

/// A future that is ready once its deadline has come.
pub struct Sleep {
    shared: Arc<Shared>,
    deadline: Option<Instant>,
    place: Option<(Key, Arc<Slot>)>,
}

impl Sleep {
    /// When the sleep ends; `None` if never.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn begin(&mut self, deadline: Instant, waker: Waker) {
        let slot = Arc::new(Slot {
            has_fired: AtomicBool::new(false),
            waker: Mutex::new(Some(waker)),
        });
        let mut list = lock(&self.shared.list);
        list.begun_count += 1;
        let key = (deadline, list.begun_count);
        list.slots.insert(key, slot.clone());
        let is_earlier = list.looks_at.is_some_and(|at| deadline < at);
        let must_unpark = is_earlier || list.is_endless;
        if must_unpark {
            list.looks_at = Some(deadline);
            list.is_endless = false;
        }
        drop(list);
        self.place = Some((key, slot));
        if must_unpark {
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
        let Some((_, slot)) = &self.place else {
            self.begin(deadline, cx.waker().clone());
            return Poll::Pending;
        };
        // Cloning the waker and dropping the older one run foreign code.
        let waker = cx.waker().clone();
        let older = lock(&slot.waker).replace(waker);
        drop(older);
        // Acquire: pairs with the Release in `fire`.
        match slot.has_fired.load(Acquire) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some((key, slot)) = &self.place {
            let removed = lock(&self.shared.list).slots.remove(key);
            let waker = lock(&slot.waker).take();
            drop((removed, waker));
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
