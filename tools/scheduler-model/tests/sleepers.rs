//! That the model notifies, searches and parks as solution 13 does.
//!
//! The events of a run are told to its `Sleepers`, and each of its decisions has to be the
//! one that the model has made.

use scheduler_model::{Event, Parts, Scheduler, Settings, What, runs_of};
use sleepers::{Activity, Sleepers};

/// What `Sleepers` is told.
struct Replay<'a> {
    settings: Settings,
    events: &'a [Event],
    sleepers: Sleepers,
    activities: Vec<Activity>,
}

impl Replay<'_> {
    /// The worker that is unparked right after an event, by the same thread.
    fn notified_after(&self, index: usize) -> Option<usize> {
        let next = self.events.get(index + 1)?;
        match next.what {
            What::Notified { worker } if next.worker == self.events[index].worker => Some(worker),
            _ => None,
        }
    }

    #[track_caller]
    fn assert_same_notify(&self, index: usize) {
        let model = self.notified_after(index);
        assert_eq!(self.sleepers.notify(), model, "{}", self.place(index));
    }

    fn place(&self, index: usize) -> String {
        format!("{:?}: {:?}", self.settings, self.events[index])
    }

    fn tell(&mut self, index: usize) {
        let event = self.events[index];
        let worker = event.worker.unwrap_or(usize::MAX);
        let stealing = self.settings.parts.stealing;
        match event.what {
            What::Injected { .. } => self.assert_same_notify(index),
            What::Spawned { .. } if stealing && !self.settings.parts.slot => {
                self.assert_same_notify(index);
            }
            // The model calls `notify` only if the slot was taken or the task had waited.
            What::Spawned { .. } | What::Woke { .. } | What::Ended { .. } => {
                if self.notified_after(index).is_some() {
                    self.assert_same_notify(index);
                }
            }
            What::Took { .. } | What::Stole { .. } => {
                if self.activities[worker] == Activity::Searching {
                    self.activities[worker] = Activity::Busy;
                    if self.sleepers.transition_from_searching() {
                        self.assert_same_notify(index);
                    } else {
                        assert_eq!(self.notified_after(index), None, "{}", self.place(index));
                    }
                }
            }
            What::Searched => {
                if self.activities[worker] == Activity::Busy {
                    let may = self.sleepers.transition_to_searching();
                    assert!(may, "{}", self.place(index));
                    self.activities[worker] = Activity::Searching;
                }
            }
            What::Parked => {
                let was = std::mem::replace(&mut self.activities[worker], Activity::Busy);
                if was == Activity::Busy && stealing {
                    let may = self.sleepers.transition_to_searching();
                    assert!(!may, "{}", self.place(index));
                }
                // If it's the last, it has looked again, and found nothing.
                let _ = self.sleepers.transition_to_parked(worker, was);
            }
            What::LookedAgain => {
                let was = self.activities[worker];
                let is_last = self.sleepers.transition_to_parked(worker, was);
                assert!(is_last, "{}", self.place(index));
                let now = self.sleepers.transition_from_parked(worker);
                assert_eq!(now, Activity::Busy, "{}", self.place(index));
                let searches = stealing && self.sleepers.transition_to_searching();
                assert_eq!(searches, stealing, "{}", self.place(index));
                self.activities[worker] = if searches { Activity::Searching } else { now };
            }
            What::Unparked => {
                self.activities[worker] = self.sleepers.transition_from_parked(worker);
                let now = self.activities[worker];
                assert_eq!(now, Activity::Searching, "{}", self.place(index));
            }
            What::Began { .. } | What::Notified { .. } => {}
        }
    }
}

#[test]
fn the_decisions_are_those_of_solution_13() {
    let mut notifications = 0;
    let has_both = |parts: Parts| parts.throttle && parts.notification;
    for settings in (0..240)
        .flat_map(runs_of)
        .filter(|settings| has_both(settings.parts))
    {
        for mut scheduler in [Scheduler::new(settings), Scheduler::at_random(settings)] {
            let parked = scheduler.parked();
            scheduler.run();
            let sleepers = Sleepers::new(settings.workers);
            for worker in parked {
                let _ = sleepers.transition_to_parked(worker, Activity::Busy);
            }
            let events = scheduler.events();
            let activities = vec![Activity::Busy; settings.workers];
            let mut replay = Replay {
                settings,
                events,
                sleepers,
                activities,
            };
            (0..events.len()).for_each(|index| replay.tell(index));
            let is_notified = |event: &&Event| matches!(event.what, What::Notified { .. });
            notifications += events.iter().filter(is_notified).count();
        }
    }
    assert!(
        notifications > 1000,
        "only {notifications} workers were unparked"
    );
}
