//! What can be seen of a run from outside.

use super::super::event::{Event, Outcome, What};
use super::super::loads::Ends;
use super::{Phase, Scheduler, TaskState, Worker};

impl Scheduler {
    /// Returns what has happened so far.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Returns the states of all tasks.
    pub fn task_states(&self) -> Vec<TaskState> {
        self.tasks.iter().map(|task| task.state).collect()
    }

    /// Returns the workers that are parked.
    pub fn parked(&self) -> Vec<usize> {
        let workers = self.workers.iter().enumerate();
        let parked = workers.filter(|(_, worker)| worker.phase == Phase::Parked);
        parked.map(|(index, _)| index).collect()
    }

    /// Returns how many workers are counted as searching.
    pub fn searching(&self) -> usize {
        self.searching
    }

    /// Returns how many polls each task has behind it, and how many it has in all.
    pub fn polls_of_tasks(&self) -> Vec<(usize, usize)> {
        let scripts = self.load.tasks.iter();
        let tasks = self.tasks.iter().zip(scripts);
        tasks
            .map(|(task, script)| (task.poll, script.len()))
            .collect()
    }

    /// Returns the tasks of all queues and slots, and those that are polled.
    pub fn places(&self) -> Vec<usize> {
        let polled = self.workers.iter().filter_map(|worker| match worker.phase {
            Phase::Polling { task, .. } => Some(task),
            _ => None,
        });
        let queued = self
            .workers
            .iter()
            .flat_map(|worker| worker.queue.iter().copied());
        let slots = self.workers.iter().filter_map(|worker| worker.slot);
        let injected = self.injector.iter().copied();
        polled.chain(queued).chain(slots).chain(injected).collect()
    }

    /// Returns `true` if a worker is parked, no worker is counted as searching, and a
    /// task waits that the parked worker could take and that no worker is about to.
    pub fn forgets_a_parked_worker(&self) -> bool {
        let is_parked = self
            .workers
            .iter()
            .any(|worker| worker.phase == Phase::Parked);
        let stealable = |worker: &Worker| {
            let is_about_to = usize::from(worker.phase == Phase::Idle);
            worker.queue.len() > is_about_to
        };
        let in_queues = self.settings.parts.stealing && self.workers.iter().any(stealable);
        let coming = self
            .workers
            .iter()
            .filter(|worker| worker.phase == Phase::Idle)
            .count();
        is_parked && self.searching == 0 && (in_queues || self.injector.len() > coming)
    }

    pub(super) fn outcome(&self) -> Outcome {
        let is_complete = self.tasks.iter().all(|task| task.state == TaskState::Done);
        let mut outcome = Outcome {
            makespan: None,
            longest_wait: None,
            polls: self.workers.iter().map(|worker| worker.polls).collect(),
            steals: 0,
            unparks: 0,
            useless_unparks: 0,
            parks: 0,
        };
        let mut has_polled = vec![true; self.workers.len()];
        for event in &self.events {
            match event.what {
                What::Ended {
                    ends: Ends::Ready, ..
                } if is_complete => {
                    outcome.makespan = Some(event.time);
                }
                What::Began { waited, .. } => {
                    has_polled[event.worker.unwrap()] = true;
                    if is_complete {
                        outcome.longest_wait = outcome.longest_wait.max(Some(waited));
                    }
                }
                What::Stole { .. } => outcome.steals += 1,
                What::Notified { worker } => {
                    outcome.unparks += 1;
                    has_polled[worker] = false;
                }
                What::Parked => {
                    outcome.parks += 1;
                    let polled = &mut has_polled[event.worker.unwrap()];
                    outcome.useless_unparks += u32::from(!*polled);
                    *polled = true;
                }
                _ => {}
            }
        }
        outcome
    }
}
