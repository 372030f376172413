//! Another correct design: several maps, each under a lock of its own, so that
//! threads that begin sleeps don't wait for one another. All maps share the
//! record that new deadlines are compared with. It counts the sleeps that
//! begin, and the driver, which looks into one map after another, looks again
//! if the count has changed.

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

/// The number of maps.
const SHARDS: usize = 4;

struct Shared {
    unpark: Unpark,
    shards: [Mutex<BTreeMap<Key, Waker>>; SHARDS],
    note: Mutex<Note>,
}

/// What the driver shares with the sleeps that begin.
#[derive(Default)]
struct Note {
    begun_count: u64,
    driver: Driver,
}

impl Shared {
    fn shard_of(&self, (_, number): Key) -> &Mutex<BTreeMap<Key, Waker>> {
        &self.shards[number as usize % SHARDS]
    }
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
        Self {
            shared: Arc::new(Shared {
                unpark: Box::new(unpark),
                shards: [(); SHARDS].map(|()| Mutex::default()),
                note: Mutex::default(),
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
            key: None,
        }
    }

    /// Wakes all sleeps that are due at `now`, and returns when to call it
    /// again.
    pub fn fire(&self, now: Instant) -> Option<Instant> {
        loop {
            let mut note = self.shared.note.lock().unwrap();
            let begun_count = note.begun_count;
            note.driver = Driver::Looks;
            drop(note);
            let nexts = self.shared.shards.iter().map(|one| fire_one(one, now));
            let nexts: Vec<Option<Instant>> = nexts.collect();
            let next = nexts.into_iter().flatten().min();
            let mut note = self.shared.note.lock().unwrap();
            // A waker may have begun a sleep that is due, or another thread may
            // have begun one in a map that the driver had already looked into.
            if note.begun_count == begun_count {
                note.driver = next.map_or(Driver::Sleeps, Driver::SleepsUntil);
                return next;
            }
        }
    }
}

/// Wakes what is due in one map, and returns what comes next in it.
fn fire_one(
    shard: &Mutex<BTreeMap<Key, Waker>>,
    now: Instant,
) -> Option<Instant> {
    loop {
        let mut sleeps = shard.lock().unwrap();
        let first = sleeps.first_entry()?;
        let deadline = first.key().0;
        if deadline > now {
            return Some(deadline);
        }
        let waker = first.remove();
        drop(sleeps);
        call(waker);
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
        // The number decides which map, so it comes first.
        let mut note = self.shared.note.lock().unwrap();
        note.begun_count += 1;
        let key = (deadline, note.begun_count);
        drop(note);
        self.key = Some(key);
        let shard = self.shared.shard_of(key);
        shard.lock().unwrap().insert(key, waker);
        // Only from here on may the driver assume that it has seen all sleeps.
        let mut note = self.shared.note.lock().unwrap();
        note.begun_count += 1;
        let must_unpark = match note.driver {
            Driver::Looks => false,
            Driver::SleepsUntil(other) => deadline < other,
            Driver::Sleeps => true,
        };
        if must_unpark {
            note.driver = Driver::SleepsUntil(deadline);
            drop(note);
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
        let mut sleeps = self.shared.shard_of(key).lock().unwrap();
        let kept = sleeps.get_mut(&key);
        let is_waiting =
            kept.map(|kept| std::mem::swap(kept, &mut waker)).is_some();
        drop(sleeps);
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
            let shard = self.shared.shard_of(key);
            let waker = shard.lock().unwrap().remove(&key);
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
