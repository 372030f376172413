//! What holds in each run, whatever the parts.

use scheduler_model::{
    Event, LoadName, Origin, Parts, Scheduler, Settings, TaskState, What, runs_of,
};

/// Some of each combination of load, workers and parts.
fn all_settings() -> impl Iterator<Item = Settings> {
    (0..240).flat_map(runs_of)
}

/// Returns a run of a load of the figure, and one of tasks at random.
fn both(settings: Settings) -> [Scheduler; 2] {
    [Scheduler::new(settings), Scheduler::at_random(settings)]
}

#[test]
fn every_combination_is_among_them() {
    let mut combinations = Vec::new();
    for settings in all_settings() {
        let combination = (settings.load as usize, settings.workers, settings.parts);
        if !combinations.contains(&combination) {
            combinations.push(combination);
        }
    }
    assert_eq!(combinations.len(), LoadName::ALL.len() * 3 * 32);
}

#[test]
fn a_task_that_is_ready_is_in_one_place() {
    for settings in all_settings() {
        for mut scheduler in both(settings) {
            while scheduler.step() {
                let mut places = scheduler.places();
                places.sort_unstable();
                let states = scheduler.task_states().into_iter().enumerate();
                let ready = states
                    .filter(|(_, state)| matches!(state, TaskState::Ready | TaskState::Running));
                let ready: Vec<_> = ready.map(|(task, _)| task).collect();
                assert_eq!(places, ready, "{settings:?}");
            }
        }
    }
}

#[test]
fn every_poll_of_every_task_happens_once_unless_no_worker_is_unparked() {
    for settings in all_settings() {
        for mut scheduler in both(settings) {
            let outcome = scheduler.run();
            if !settings.parts.notification && outcome.makespan.is_none() {
                continue;
            }
            for (happened, all) in scheduler.polls_of_tasks() {
                assert_eq!(happened, all, "{settings:?}");
            }
            let scripts: usize = scheduler.polls_of_tasks().iter().map(|(_, all)| all).sum();
            let polls: u32 = outcome.polls.iter().sum();
            assert_eq!(polls as usize, scripts, "{settings:?}");
        }
    }
}

#[test]
fn without_notification_only_a_burst_from_outside_hangs() {
    for settings in all_settings().filter(|settings| !settings.parts.notification) {
        let hangs = Scheduler::new(settings).run().makespan.is_none();
        assert_eq!(hangs, settings.load == LoadName::Burst, "{settings:?}");
    }
}

#[test]
fn with_notification_no_worker_parks_beside_a_task_that_it_could_take() {
    let with = |settings: &Settings| settings.parts.notification;
    for settings in all_settings().filter(with) {
        for mut scheduler in both(settings) {
            while scheduler.step() {
                assert!(
                    !scheduler.forgets_a_parked_worker(),
                    "{settings:?}: {:?}",
                    scheduler.events().last()
                );
            }
        }
    }
}

#[test]
fn what_a_missing_part_does_never_happens() {
    for settings in all_settings() {
        let Parts {
            slot,
            stealing,
            notification,
            interval,
            ..
        } = settings.parts;
        let mut scheduler = Scheduler::new(settings);
        scheduler.run();
        for event in scheduler.events() {
            match event.what {
                What::Stole { .. } | What::Searched => assert!(stealing, "{settings:?}"),
                What::Notified { .. } | What::Unparked => assert!(notification, "{settings:?}"),
                What::Began { origin, .. } => {
                    assert!(slot || origin != Origin::Slot, "{settings:?}");
                }
                _ => {}
            }
        }
        // Of two busy tasks a worker and three more, the interval is what lets the others
        // be polled before the first have ended.
        if settings.load == LoadName::Busy && !interval {
            let requests = scheduler.polls_of_tasks().len() - 3;
            let began =
                |event: &&Event| matches!(event.what, What::Began { task, .. } if task >= requests);
            let first = scheduler
                .events()
                .iter()
                .find(began)
                .expect("they are polled");
            assert!(first.time > 150, "{settings:?}: {first:?}");
        }
    }
}

#[test]
fn time_does_not_go_back_and_the_same_settings_give_the_same_events() {
    for settings in all_settings().take(400) {
        let [mut one, mut other] = [Scheduler::new(settings), Scheduler::new(settings)];
        assert_eq!(one.run(), other.run());
        assert_eq!(one.events(), other.events());
        assert!(
            one.events().is_sorted_by_key(|event| event.time),
            "{settings:?}"
        );
    }
}

#[test]
fn throttled_searchers_are_at_most_half() {
    for settings in all_settings().filter(|settings| settings.parts.throttle) {
        for mut scheduler in both(settings) {
            while scheduler.step() {
                let most = settings.workers.div_ceil(2);
                assert!(scheduler.searching() <= most, "{settings:?}");
            }
        }
    }
}
