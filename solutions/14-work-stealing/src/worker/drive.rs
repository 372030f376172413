//! What a worker does with the driver, if the runtime has one: it waits there
//! instead of in its parker, looks there while it is busy, and hands it on.
//!
//! A worker that leaves the driver with work may be away for long, and other
//! workers may be parked that found the driver taken. So it notifies one of
//! these *before* it goes on. That worker finds work, or finds the driver free
//! and waits in it. A worker that leaves the driver without work searches, and
//! a search that ends notifies another worker, or is the last one, and then its
//! worker looks at the driver again as it parks.

use std::time::{Duration, Instant};

use primitives::atomic::{Ordering::SeqCst, fence};

use super::super::context;
use super::super::driver::{DriverSeat, Occupant};
use super::super::events::Event;
use super::super::sleepers::Activity;
use super::Worker;

/// A busy worker looks about once in so long.
const LOOK_EVERY: Duration = Duration::from_micros(100);

/// So many events of a batch wake their tasks into the worker's own queue. The
/// tasks of the others go to the injector, where busy workers see them, too.
const LOCAL_EVENTS: usize = if IS_MODEL { 1 } else { 32 };

const IS_MODEL: bool = cfg!(any(feature = "loom", feature = "shuttle"));

impl Worker {
    /// Runs tasks until the runtime is shut down, and looks at the driver now
    /// and then.
    pub fn run_beside(&self, seat: &DriverSeat) {
        let mut pace = LookPace::new(self.shared.global_queue_interval);
        while !self.shared.is_shut_down() {
            self.run_next();
            if pace.is_time() {
                self.look(seat);
            }
        }
    }

    /// Looks at the driver, unless another worker has it.
    #[cold]
    fn look(&self, seat: &DriverSeat) {
        if self.activity.get() == Activity::Searching {
            // It isn't busy. With tasks of its own it would poll these while it
            // counts as searching, and the others would notify no worker.
            // Model: `the_driver_is_handed_on`.
            return;
        }
        let Some(mut driver) = seat.try_take(self.index) else {
            return;
        };
        driver.look();
        self.dispatch(&mut driver);
        drop(driver);
        // A worker that parked meanwhile has found the driver taken. This also
        // tells of the tasks that have been woken.
        // Model: `a_look_leaves_no_gap`.
        self.notify_others();
    }

    // ANCHOR: park_in_driver
    /// Waits in the driver, if no other worker has it. This worker counts as
    /// parked. Returns `false` if it has to wait elsewhere.
    pub fn park_in_driver(&self) -> bool {
        let Some(seat) = &self.shared.driver else {
            return false;
        };
        let Some(mut driver) = seat.try_take(self.index) else {
            return false;
        };
        driver.announce();
        if !self.shared.is_shut_down() && !self.take_token() {
            self.emit(|| Event::Parked);
            driver.wait();
            self.emit(|| Event::Unparked);
            // The one that may have ended the wait: it shows what was done
            // before. If it comes later, a park ends in vain.
            self.take_token();
        }
        // A worker that is parked must not push tasks, or it would be chosen to
        // come for them.
        let sleepers = &self.shared.sleepers;
        self.set_activity(sleepers.transition_from_parked(self.index));
        self.dispatch(&mut driver);
        drop(driver);
        self.hand_on();
        true
    }
    // ANCHOR_END: park_in_driver

    /// The driver is free, and this worker goes on.
    fn hand_on(&self) {
        if self.shared.workers.len() == 1 {
            // It searches, though there is no other: that looks at the injector.
            return;
        }
        if !self.queue.is_empty() {
            // A worker that polls must not count as searching, or the others
            // would notify no worker.
            if self.end_search(true) == Activity::Searching {
                // Whether it was the last search doesn't matter: see below.
                let _ = self.shared.sleepers.transition_from_searching();
            }
            // Model: `the_driver_is_handed_on`.
            self.shared.notify();
        } else if self.activity.get() == Activity::Busy {
            // SeqCst: pairs with the fence in `transition_to_parked`, and with
            // the one in `notify` after a `transition_from_searching`. Here the
            // driver is freed, and then the number of searchers is looked at.
            // There a searcher less is counted, and then its worker looks at
            // the driver, or for a parked worker.
            fence(SeqCst);
            if self.shared.sleepers.transition_to_searching() {
                self.set_activity(Activity::Searching);
            }
        }
    }

    fn dispatch(&self, driver: &mut Occupant<'_>) {
        if driver.dispatch(LOCAL_EVENTS) {
            context::run_as_other(|| {
                driver.dispatch(usize::MAX);
            });
        }
        if let Some(task) = self.slot.take_uncapped() {
            // No thief sees the slot, and the first poll may be of another task,
            // from the injector, and long.
            // Model: `the_driver_is_handed_on`.
            self.push(task);
        }
    }

    /// Takes the parker's token, if there is one.
    fn take_token(&self) -> bool {
        self.parker.park_timeout(Duration::ZERO)
    }
}

/// When a busy worker looks at the driver: about every [`LOOK_EVERY`]. The
/// clock isn't read at each poll, but after as many as fitted into that time at
/// the pace of the last ones.
struct LookPace {
    most: u32,
    polls_left: u32,
    polls: u32,
    began: Instant,
    looked: Instant,
}

impl LookPace {
    fn new(most: u32) -> Self {
        let now = Instant::now();
        Self {
            most,
            polls_left: 1,
            polls: 1,
            began: now,
            looked: now,
        }
    }

    /// To be called after each poll. Returns `true` if the worker is to look.
    #[inline]
    fn is_time(&mut self) -> bool {
        self.polls_left -= 1;
        self.polls_left == 0 && self.check()
    }

    #[cold]
    fn check(&mut self) -> bool {
        if IS_MODEL {
            // A model is to do the same each time.
            self.polls_left = 2;
            return true;
        }
        let now = Instant::now();
        let passed = now.duration_since(self.began).as_nanos().max(1);
        let fitting = u128::from(self.polls) * LOOK_EVERY.as_nanos() / passed;
        let fitting = u32::try_from(fitting).unwrap_or(u32::MAX);
        self.polls = fitting.clamp(1, self.most);
        self.polls_left = self.polls;
        self.began = now;
        // Half, because the pace is never quite the same.
        let is_time = now.duration_since(self.looked) >= LOOK_EVERY / 2;
        if is_time {
            self.looked = now;
        }
        is_time
    }
}
