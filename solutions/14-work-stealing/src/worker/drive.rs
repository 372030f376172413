//! How a worker uses the driver, if the runtime has one: without work it waits
//! in the driver instead of its parker, when busy it looks at the driver now
//! and then, and after a wait it hands the driver on.
//!
//! A worker that leaves the driver with work may be gone for a long time, while
//! other workers are parked that found the driver taken. So it notifies one of
//! them *before* it polls a task. The notified worker finds work, or it finds
//! the driver free and waits there. If events come one by one, that would be a
//! notification for each of them, so one of the parked workers watches the
//! driver: every five milliseconds, it checks whether a worker has left it and
//! is still away, and takes it then.
//!
//! A worker that leaves the driver without work searches. When the last search
//! ends, the driver isn't left empty: if the worker found work, and sees the
//! driver free, it notifies another one, and if it found none, it tries to take
//! the driver as it parks.
//!
//! On a crowded machine, a worker that leaves the driver with many tasks serves
//! it alone, see `alone`: it notifies none as long as the driver is watched. If
//! it isn't back within five milliseconds, the one that watches steals its
//! tasks and takes the driver.

use std::cell::Cell;
use std::mem;
use std::time::{Duration, Instant};

use primitives::atomic::{Ordering::SeqCst, fence};

use super::super::context;
use super::super::driver::{DriverSeat, Occupant};
use super::super::events::Event;
use super::super::sleepers::Activity;
use super::Worker;

/// How long a busy worker waits, roughly, between two looks.
const LOOK_EVERY: Duration = Duration::from_micros(200);

/// How long the driver may be left alone while another worker is parked. In a
/// model, a watch ends at once unless the driver was left meanwhile.
///
/// On most Linux systems, a busy core gets a timer interrupt every four
/// milliseconds or more often. For a timeout that expires before the next one,
/// the kernel has to set the timer twice, when a thread parks and when it's
/// unparked, and that's expensive in a virtual machine.
const WATCH: Duration = if IS_MODEL {
    Duration::ZERO
} else {
    Duration::from_millis(5)
};

/// How many events of a batch put their tasks into the worker's own queue. The
/// tasks of the other events go to the injector, where busy workers find them,
/// too.
const LOCAL_EVENTS: usize = if IS_MODEL { 1 } else { 32 };

/// How many events are dispatched before a worker asks whether there are more.
const FEW_EVENTS: usize = if IS_MODEL { 1 } else { 8 };

/// How many more events of a batch a worker keeps at most that serves the driver
/// alone. The tasks of a larger batch are shared in any case.
const KEPT_EVENTS: usize = 56;

const IS_MODEL: bool = cfg!(any(feature = "loom", feature = "shuttle"));

/// How a watch has ended.
#[derive(PartialEq, Eq)]
enum Watched {
    /// This worker has been notified, or the driver was left and the worker
    /// that left it isn't back: this one must search.
    Searches,
    /// Another worker has the driver, and it hasn't been left for a while, or
    /// another worker watches it. The next worker that leaves it notifies one
    /// that's parked.
    Over,
}

impl Worker {
    /// Runs tasks until the runtime shuts down, and looks at the driver now and
    /// then.
    pub fn run_beside(&self, seat: &DriverSeat) {
        let mut pace = LookPace::new(self.shared.global_queue_interval);
        while !self.shared.is_shut_down() {
            self.run_next();
            if pace.is_time(&self.has_waited) {
                self.look(seat);
            }
        }
    }

    /// Looks at the driver, unless another worker has it.
    #[cold]
    fn look(&self, seat: &DriverSeat) {
        if self.activity.get() == Activity::Searching {
            // The look may give this worker tasks. It would poll them while it
            // still counts as searching, and meanwhile the other workers would
            // notify none.
            // Model: `the_driver_is_handed_on`.
            return;
        }
        let Some(mut driver) = seat.try_take(self.index) else {
            return;
        };
        driver.look();
        let keeps_all = self.dispatch(seat, &mut driver);
        drop(driver);
        if keeps_all && seat.is_watched_after_departure() {
            // Model: `a_look_leaves_no_gap_on_a_crowded_machine`.
            return;
        }
        // A worker that parked meanwhile found the driver taken. This call
        // makes it look again, and it also announces the tasks that were woken.
        // Model: `a_look_leaves_no_gap`.
        self.notify_others();
    }

    // ANCHOR: park_in_driver
    /// Waits in the driver. If another worker has it, watches the driver,
    /// unless a third one does. The caller must have counted this worker as
    /// parked. Returns `false` if the worker has to wait in its parker.
    pub fn park_in_driver(&self) -> bool {
        let Some(seat) = &self.shared.driver else {
            return false;
        };
        let driver = if seat.is_left_to_another(self.index) {
            None
        } else {
            seat.try_take(self.index)
        };
        let Some(mut driver) = driver else {
            seat.set_alone(self.index, false);
            if self.watch(seat) == Watched::Over {
                return false;
            }
            let sleepers = &self.shared.sleepers;
            let activity = sleepers.transition_from_parked(self.index);
            self.set_activity(activity);
            // A search ends with a look at the driver or with a try for it, so
            // a worker that relied on this watch can rely on the search. It
            // also finds the tasks that this worker has kept.
            self.search_if_busy();
            return true;
        };
        driver.announce();
        if !self.shared.is_shut_down() && !self.take_token() {
            self.emit(|| Event::Parked);
            self.wait(seat, &mut driver);
            self.has_waited.set(true);
            self.emit(|| Event::Unparked);
            // If a token ended the wait, taking it acquires what the thread
            // that left it has written. A token that comes later only causes
            // one spurious unpark.
            self.take_token();
        }
        // A worker that counts as parked must not push tasks: it could be the
        // worker that's chosen to come for them.
        let sleepers = &self.shared.sleepers;
        self.set_activity(sleepers.transition_from_parked(self.index));
        let keeps_all = self.dispatch(seat, &mut driver);
        drop(driver);
        self.hand_on(seat, keeps_all);
        true
    }
    // ANCHOR_END: park_in_driver

    fn wait(&self, seat: &DriverSeat, driver: &mut Occupant<'_>) {
        // A model must be deterministic, so it doesn't read the clock.
        let is_alone = !IS_MODEL && seat.is_alone(self.index);
        let began = is_alone.then(Instant::now);
        driver.wait();
        if began.is_some_and(|began| !self.alone.goes_on_after_wait(began)) {
            seat.set_alone(self.index, false);
        }
    }

    // ANCHOR: watch
    /// Parks, and checks every five milliseconds whether the driver is free, as
    /// long as it's left again and again.
    fn watch(&self, seat: &DriverSeat) -> Watched {
        if self.shared.is_shut_down() || !seat.begin_watch() {
            return Watched::Over;
        }
        let mut departures = seat.departures();
        self.emit(|| Event::Parked);
        let is_notified = loop {
            if self.parker.park_timeout(WATCH) {
                break true;
            }
            let before = mem::replace(&mut departures, seat.departures());
            let is_left =
                seat.is_free() && !seat.is_left_to_another(self.index);
            if departures == before || is_left {
                break false;
            }
        };
        self.emit(|| Event::Unparked);
        if !is_notified {
            seat.end_alone();
        }
        if seat.end_watch() || is_notified {
            Watched::Searches
        } else {
            Watched::Over
        }
    }
    // ANCHOR_END: watch

    /// Makes sure that a parked worker takes the driver, which is free now,
    /// before this worker goes on.
    fn hand_on(&self, seat: &DriverSeat, keeps_all: bool) {
        if self.shared.workers.len() == 1 {
            // There's no other worker to notify. If this one counts as
            // searching, it goes on so, because a search looks at the injector.
            return;
        }
        if !self.queue.is_empty() {
            // A worker that polls tasks must not count as searching, or the
            // other workers would notify none.
            let was = self.end_search(true);
            let is_watched = seat.is_watched_after_departure();
            if was == Activity::Searching {
                // It doesn't matter whether it was the last one that searched,
                // because `notify` follows in any case.
                let _ = self.shared.sleepers.transition_from_searching();
            } else if is_watched && (keeps_all || self.queue.len() == 1) {
                // This worker can poll its only task itself.
                // Model: `the_driver_is_handed_on_on_a_crowded_machine`.
                return;
            }
            // Model: `the_driver_is_handed_on`.
            self.shared.notify();
        } else {
            self.search_if_busy();
        }
    }

    /// Makes this worker count as searching, unless it does or enough others
    /// do. (A token that came late may have unparked it: then it's busy.)
    fn search_if_busy(&self) {
        if self.activity.get() != Activity::Busy {
            return;
        }
        // SeqCst: pairs with the fence in `transition_to_parked`, and with the
        // fence in `has_missed_any` after a `transition_from_searching`. This
        // side frees the driver, or ends its watch, and then loads the number
        // of searchers. The other side counts one searcher less and then looks
        // at the driver. (That's more than exercise 13's contract promises of a
        // `false`. If a `notify` under way is the reason for it, the worker that
        // is chosen looks.)
        fence(SeqCst);
        if self.shared.sleepers.transition_to_searching() {
            self.set_activity(Activity::Searching);
        }
    }

    /// Wakes the tasks of the events. Returns `true` if this worker keeps all
    /// of them for itself as long as the driver is watched, and has notified
    /// none.
    fn dispatch(&self, seat: &DriverSeat, driver: &mut Occupant<'_>) -> bool {
        self.is_quiet.set(true);
        let mut has_more = driver.dispatch(FEW_EVENTS);
        let is_alone = self.decide_alone(seat, has_more);
        let mut keeps_all = is_alone && seat.is_watched();
        if has_more && keeps_all {
            has_more = driver.dispatch(KEPT_EVENTS);
        }
        self.is_quiet.set(false);
        if has_more && driver.dispatch(LOCAL_EVENTS - FEW_EVENTS) {
            context::run_as_other(|| {
                driver.dispatch(usize::MAX);
            });
        }
        keeps_all &= !has_more && self.shared.injector.is_empty();
        if let Some(task) = self.slot.take_uncapped() {
            // Other workers can't steal from the LIFO slot, and the first poll
            // may be a long one of another task, from the injector.
            // Model: `the_driver_is_handed_on`.
            self.push(task);
        }
        keeps_all
    }

    /// Decides whether this worker serves the driver alone from now on. It
    /// begins so if it has many events, and goes on so until it has little to
    /// do.
    fn decide_alone(&self, seat: &DriverSeat, has_many: bool) -> bool {
        let was_alone = seat.is_alone(self.index);
        let is_only = self.shared.workers.len() == 1;
        if is_only || (!was_alone && !has_many) {
            return false;
        }
        let is_alone = if IS_MODEL {
            // Without a clock, which a model must not read.
            seat.is_crowded(seat.made())
        } else {
            self.alone.is_crowded(seat)
        };
        if is_alone && !was_alone {
            self.alone.begin();
        }
        seat.set_alone(self.index, is_alone);
        is_alone
    }

    /// Takes the parker's token, if there is one.
    fn take_token(&self) -> bool {
        self.parker.park_timeout(Duration::ZERO)
    }
}

/// Decides when a busy worker looks at the driver: about every [`LOOK_EVERY`].
/// Reading the clock after each poll would be expensive. Instead, the worker
/// reads it after as many polls as fit into that time at their recent pace.
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

    /// The worker must call this after each poll. Returns `true` if it's time
    /// to look at the driver. `has_waited` says whether the worker has waited
    /// in the driver since the last call that reset it.
    #[inline]
    fn is_time(&mut self, has_waited: &Cell<bool>) -> bool {
        self.polls_left -= 1;
        self.polls_left == 0 && self.check(has_waited)
    }

    #[cold]
    fn check(&mut self, has_waited: &Cell<bool>) -> bool {
        if IS_MODEL {
            // A model must be deterministic, so it doesn't read the clock.
            self.polls_left = 2;
            return true;
        }
        let now = Instant::now();
        if has_waited.take() {
            // The wait was a look. A worker that has little to do would
            // otherwise look after each poll, in vain: the time that it has
            // waited isn't the time that its polls take.
            *self = Self::new(self.most);
            return false;
        }
        let passed = now.duration_since(self.began).as_nanos().max(1);
        let fitting = u128::from(self.polls) * LOOK_EVERY.as_nanos() / passed;
        let fitting = u32::try_from(fitting).unwrap_or(u32::MAX);
        self.polls = fitting.clamp(1, self.most);
        self.polls_left = self.polls;
        self.began = now;
        // Half of the time is enough, because the pace varies.
        let is_time = now.duration_since(self.looked) >= LOOK_EVERY / 2;
        if is_time {
            self.looked = now;
        }
        is_time
    }
}
