//! Schedules that are kept, changed and followed.

use std::cell::RefCell;
use std::rc::Rc;

use shuttle::scheduler::{PctScheduler, RandomScheduler, Schedule, Scheduler, Task, TaskId};

use crate::record;

/// Which task ran at each step of an execution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choices {
    pub tasks: Vec<TaskId>,
    /// The steps at which another task was chosen, although the last one could have gone on.
    pub preemptions: Vec<usize>,
}

impl Choices {
    /// How hard it is to follow: fewer preemptions are easier, and then fewer steps.
    pub fn length(&self) -> (usize, usize) {
        (self.preemptions.len(), self.tasks.len())
    }

    /// The same, except that the task which is preempted at this place in `preemptions` first goes
    /// on to where it's next interrupted.
    pub fn without_preemption(&self, number: usize) -> Vec<TaskId> {
        let at = self.preemptions[number];
        let preempted = self.tasks[at - 1];
        let mut tasks = self.tasks[..at].to_vec();
        let rest = &self.tasks[at..];
        let resumed = rest.iter().position(|task| *task == preempted);
        let Some(resumed) = resumed else {
            tasks.extend(rest);
            return tasks;
        };
        let turn = rest[resumed..].iter().take_while(|it| **it == preempted);
        let end = resumed + turn.count();
        tasks.extend(&rest[resumed..end]);
        tasks.extend(&rest[..resumed]);
        tasks.extend(&rest[end..]);
        tasks
    }
}

/// Chooses as `inner` does, and keeps the choices of the last execution. While steps are recorded,
/// it also tells when a thread falls asleep.
pub struct Kept<S> {
    inner: S,
    choices: Rc<RefCell<Choices>>,
}

impl<S: Scheduler> Kept<S> {
    pub fn new(inner: S) -> (Self, Rc<RefCell<Choices>>) {
        let choices = Rc::<RefCell<Choices>>::default();
        let kept = Self {
            inner,
            choices: choices.clone(),
        };
        (kept, choices)
    }
}

impl<S: Scheduler> Scheduler for Kept<S> {
    fn new_execution(&mut self) -> Option<Schedule> {
        let next = self.inner.new_execution();
        if next.is_some() {
            self.choices.take();
        }
        next
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        let goes_on = |task| runnable.iter().any(|it| it.id() == task);
        if let Some(task) = current.filter(|task| !goes_on(*task)) {
            record::note_blocked(task.into());
        }
        let next = self.inner.next_task(runnable, current, is_yielding)?;
        let mut choices = self.choices.borrow_mut();
        if current.is_some_and(|task| task != next && goes_on(task)) {
            let step = choices.tasks.len();
            choices.preemptions.push(step);
        }
        choices.tasks.push(next);
        Some(next)
    }

    fn next_u64(&mut self) -> u64 {
        self.inner.next_u64()
    }
}

/// What follows after the choices that are given.
pub enum Then {
    /// Each task goes on as long as it can, and then the one that was made first.
    Straight,
    /// Each choice is random.
    Random(RandomScheduler),
    /// Priorities choose.
    Priorities(PctScheduler),
}

impl Then {
    fn scheduler(&mut self) -> Option<&mut dyn Scheduler> {
        match self {
            Self::Straight => None,
            Self::Random(scheduler) => Some(scheduler),
            Self::Priorities(scheduler) => Some(scheduler),
        }
    }
}

/// Follows choices as far as that can be done, once or, if chance goes on, several times.
pub struct Followed {
    tasks: Vec<TaskId>,
    step: usize,
    then: Then,
    has_begun: bool,
    /// Before which step to record how many other orders were tried.
    lost: Option<(usize, usize)>,
}

impl Followed {
    pub fn new(tasks: Vec<TaskId>, then: Then) -> Self {
        Self {
            tasks,
            step: 0,
            then,
            has_begun: false,
            lost: None,
        }
    }

    /// Says in the recording that after the step at this place, all of the `orders` that were tried
    /// fail, too.
    pub fn lost_at(self, step: usize, orders: usize) -> Self {
        Self {
            lost: Some((step, orders)),
            ..self
        }
    }
}

impl Scheduler for Followed {
    fn new_execution(&mut self) -> Option<Schedule> {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        self.step = 0;
        match self.then.scheduler() {
            Some(then) => then.new_execution(),
            None => is_first.then(|| Schedule::new(0)),
        }
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        let can_run = |task: &TaskId| runnable.iter().any(|it| it.id() == *task);
        // Of a changed order, some choices may be impossible.
        while let Some(task) = self.tasks.get(self.step) {
            self.step += 1;
            if can_run(task) {
                if let Some((step, orders)) = self.lost
                    && step + 1 == self.step
                {
                    record::note_lost(orders);
                }
                return Some(*task);
            }
        }
        if let Some(then) = self.then.scheduler() {
            return then.next_task(runnable, current, is_yielding);
        }
        let stays = current.filter(|task| !is_yielding && can_run(task));
        let other = || {
            let others = runnable.iter().map(|task| task.id());
            others.filter(|task| Some(*task) != current).min()
        };
        stays.or_else(other).or(current)
    }

    fn next_u64(&mut self) -> u64 {
        0
    }
}
