//! The rules, one method for each place where a worker can be.

mod inspection;

use std::collections::VecDeque;

use super::event::{Event, Origin, Outcome, What};
use super::loads::{Ends, Load, Step};
use super::random::Random;
use super::{INTERVAL, STREAK, Settings, cost};

/// Whether a task may be in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// It hasn't been spawned, or it waits to be woken.
    Idle,
    /// It's in one queue, or in a slot.
    Ready,
    /// A worker polls it, or is about to.
    Running,
    /// Its last poll has ended.
    Done,
}

struct Task {
    state: TaskState,
    poll: usize,
    ready_since: u32,
    /// The worker that made it ready, if one did.
    home: Option<usize>,
    /// Whether it was woken while it ran.
    is_notified: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Parked,
    /// It was unparked, and doesn't run yet.
    Unparking,
    /// It looks for its next task.
    Idle,
    Searching {
        start: usize,
        looked: usize,
    },
    /// `step` is `None` until the poll has begun.
    Polling {
        task: usize,
        origin: Origin,
        step: Option<usize>,
    },
}

struct Worker {
    phase: Phase,
    /// When it acts next, unless it's parked.
    free_at: u32,
    is_searching: bool,
    slot: Option<usize>,
    queue: VecDeque<usize>,
    streak: u32,
    polls: u32,
}

/// A run, up to some moment.
pub struct Scheduler {
    settings: Settings,
    load: Load,
    random: Random,
    now: u32,
    /// What the action that is under way has cost so far.
    spent: u32,
    /// Who takes that action: a worker, or `None` for the thread that is not one.
    actor: Option<usize>,
    searching: usize,
    tasks: Vec<Task>,
    injector: VecDeque<usize>,
    workers: Vec<Worker>,
    pushed: usize,
    next_push: u32,
    events: Vec<Event>,
}

impl Scheduler {
    /// Prepares a run.
    pub fn new(settings: Settings) -> Self {
        let mut random = Random::new(settings.seed);
        let load = Load::new(settings.load, settings.workers, &mut random);
        Self::with_load(settings, load, random)
    }

    /// Prepares a run of tasks that spawn one another at random times, instead of the load
    /// that is named.
    pub fn at_random(settings: Settings) -> Self {
        let mut random = Random::new(settings.seed);
        let load = Load::at_random(&mut random);
        Self::with_load(settings, load, random)
    }

    fn with_load(settings: Settings, load: Load, random: Random) -> Self {
        let idle = || Task {
            state: TaskState::Idle,
            poll: 0,
            ready_since: 0,
            home: None,
            is_notified: false,
        };
        let mut tasks: Vec<_> = load.tasks.iter().map(|_| idle()).collect();
        let mut workers = Vec::new();
        for index in 0..settings.workers {
            let queue: VecDeque<_> = load
                .queues
                .get(index)
                .into_iter()
                .flatten()
                .copied()
                .collect();
            for &task in &queue {
                tasks[task].state = TaskState::Ready;
                tasks[task].home = Some(index);
            }
            let phase = if queue.is_empty() {
                Phase::Parked
            } else {
                Phase::Idle
            };
            workers.push(Worker {
                phase,
                free_at: 0,
                is_searching: false,
                slot: None,
                queue,
                streak: 0,
                polls: 0,
            });
        }
        Self {
            settings,
            random,
            now: 0,
            spent: 0,
            actor: None,
            searching: 0,
            tasks,
            injector: VecDeque::new(),
            workers,
            pushed: 0,
            next_push: load.pushes.first().map_or(0, |push| push.after),
            load,
            events: Vec::new(),
        }
    }

    /// Lets the next action happen. Returns `false` if there is none.
    pub fn step(&mut self) -> bool {
        let push = (self.pushed < self.load.pushes.len()).then_some((self.next_push, None));
        let acting = self.workers.iter().enumerate();
        let acting = acting.filter(|(_, worker)| worker.phase != Phase::Parked);
        let actions = acting.map(|(index, worker)| (worker.free_at, Some(index)));
        // At the same time, `None` is the least.
        let Some((time, actor)) = push.into_iter().chain(actions).min() else {
            return false;
        };
        (self.now, self.actor, self.spent) = (time, actor, 0);
        match actor {
            None => {
                self.push_next();
                let next = self.load.pushes.get(self.pushed);
                self.next_push = time + self.spent + next.map_or(0, |push| push.after);
            }
            Some(worker) => {
                self.act(worker);
                self.workers[worker].free_at = time + self.spent;
            }
        }
        true
    }

    /// Lets everything happen.
    pub fn run(&mut self) -> Outcome {
        while self.step() {}
        self.outcome()
    }

    fn emit(&mut self, what: What) {
        let (time, worker) = (self.now, self.actor);
        self.events.push(Event { time, worker, what });
    }

    // The thread that is not a worker.

    fn push_next(&mut self) {
        let task = self.load.pushes[self.pushed].task;
        self.pushed += 1;
        self.make_ready(task);
        self.injector.push_back(task);
        self.emit(What::Injected { task });
        self.notify();
    }

    // A worker.

    fn act(&mut self, worker: usize) {
        match self.workers[worker].phase {
            Phase::Parked => unreachable!("worker {worker} is parked"),
            Phase::Unparking => {
                self.emit(What::Unparked);
                self.workers[worker].phase = Phase::Idle;
            }
            Phase::Idle => self.find_next(worker),
            Phase::Searching { start, looked } => self.search(worker, start, looked),
            Phase::Polling {
                task,
                origin,
                step: None,
            } => {
                let waited = self.now - self.tasks[task].ready_since;
                self.emit(What::Began {
                    task,
                    waited,
                    origin,
                });
                let step = Some(0);
                self.workers[worker].phase = Phase::Polling { task, origin, step };
            }
            Phase::Polling {
                task,
                origin,
                step: Some(step),
            } => {
                let poll = &self.load.tasks[task][self.tasks[task].poll];
                let ends = poll.ends;
                match poll.steps.get(step).copied() {
                    Some(this) => {
                        let step = Some(step + 1);
                        self.workers[worker].phase = Phase::Polling { task, origin, step };
                        self.take_step(worker, this);
                    }
                    None => self.end_poll(worker, task, ends),
                }
            }
        }
    }

    /// Rule 2.
    fn find_next(&mut self, worker: usize) {
        let parts = self.settings.parts;
        let is_time = (self.workers[worker].polls + 1).is_multiple_of(INTERVAL);
        if parts.interval
            && is_time
            && let Some(task) = self.injector.pop_front()
        {
            self.emit(What::Took { count: 1 });
            self.spent += cost::TAKE;
            self.begin(worker, task, Origin::Injector);
        } else if let Some((task, origin)) = self.take_own(worker) {
            self.begin(worker, task, origin);
        } else if !self.take_share(worker) {
            if parts.stealing && (self.workers[worker].is_searching || self.may_search()) {
                self.count_searcher(worker);
                let start = self.random.below(self.workers.len() as u32) as usize;
                self.workers[worker].phase = Phase::Searching { start, looked: 0 };
                self.emit(What::Searched);
            } else {
                self.park(worker);
            }
        }
    }

    /// Rule 3, of which this is the worker's side.
    fn take_own(&mut self, index: usize) -> Option<(usize, Origin)> {
        let worker = &mut self.workers[index];
        let may_have_slot = worker.streak < STREAK;
        if may_have_slot && let Some(task) = worker.slot.take() {
            worker.streak += 1;
            return Some((task, Origin::Slot));
        }
        worker.streak = 0;
        let Some(task) = worker.queue.pop_front() else {
            return worker.slot.take().map(|task| (task, Origin::Slot));
        };
        if let Some(next) = worker.slot.take() {
            self.workers[index].queue.push_back(next);
            self.notify_of_queue();
        }
        Some((task, Origin::Queue))
    }

    /// Rule 4. Returns `false` if the injector is empty.
    fn take_share(&mut self, worker: usize) -> bool {
        let share = self.injector.len().div_ceil(self.workers.len());
        let mut taken = self.injector.drain(..share);
        let Some(first) = taken.next() else {
            return false;
        };
        let before = self.workers[worker].queue.len();
        self.workers[worker].queue.extend(taken);
        let count = 1 + self.workers[worker].queue.len() - before;
        self.emit(What::Took { count });
        self.spent += cost::TAKE;
        self.begin(worker, first, Origin::Injector);
        true
    }

    /// Rule 6: whether there's room for one more.
    fn may_search(&self) -> bool {
        let most = self.workers.len().div_ceil(2);
        !self.settings.parts.throttle || self.searching < most
    }

    fn count_searcher(&mut self, worker: usize) {
        if !self.workers[worker].is_searching {
            self.workers[worker].is_searching = true;
            self.searching += 1;
        }
    }

    /// Returns `true` if it was counted, and was the last.
    fn uncount_searcher(&mut self, worker: usize) -> bool {
        let was_searching = std::mem::take(&mut self.workers[worker].is_searching);
        self.searching -= usize::from(was_searching);
        was_searching && self.searching == 0
    }

    /// Rule 5: the next victim, or what comes after the last.
    fn search(&mut self, worker: usize, start: usize, looked: usize) {
        let count = self.workers.len();
        let mut victims = (looked..count).map(|nth| (nth, (start + nth) % count));
        let Some((nth, from)) = victims.find(|&(_, victim)| victim != worker) else {
            if !self.take_share(worker) {
                self.park(worker);
            }
            return;
        };
        let queue = &mut self.workers[from].queue;
        let half = queue.len().div_ceil(2);
        let mut stolen: VecDeque<_> = queue.drain(..half).collect();
        let Some(first) = stolen.pop_front() else {
            self.spent += cost::LOOK;
            let looked = nth + 1;
            self.workers[worker].phase = Phase::Searching { start, looked };
            return;
        };
        self.workers[worker].queue.append(&mut stolen);
        self.emit(What::Stole { from, count: half });
        self.spent += cost::STEAL;
        self.begin(worker, first, Origin::Stolen);
    }

    /// Rule 7.
    fn park(&mut self, worker: usize) {
        let parts = self.settings.parts;
        self.uncount_searcher(worker);
        let is_up_to_it = !parts.throttle || self.searching == 0;
        let in_queues = self.workers.iter().any(|worker| !worker.queue.is_empty());
        let has_work = !self.injector.is_empty() || (parts.stealing && in_queues);
        if is_up_to_it && has_work {
            self.emit(What::LookedAgain);
            self.spent += cost::LOOK;
            self.workers[worker].phase = Phase::Idle;
            if parts.stealing {
                self.count_searcher(worker);
            }
        } else {
            self.workers[worker].phase = Phase::Parked;
            self.emit(What::Parked);
        }
    }

    /// The poll begins when what it takes to get there is over.
    fn begin(&mut self, worker: usize, task: usize, origin: Origin) {
        if self.uncount_searcher(worker) && self.settings.parts.throttle {
            self.notify();
        }
        if self.tasks[task].home != Some(worker) {
            self.spent += cost::MOVE;
        }
        self.tasks[task].state = TaskState::Running;
        self.workers[worker].polls += 1;
        let step = None;
        self.workers[worker].phase = Phase::Polling { task, origin, step };
    }

    fn take_step(&mut self, worker: usize, step: Step) {
        let task = match step {
            Step::Work(length) => return self.spent += length,
            Step::Spawn(task) => {
                self.emit(What::Spawned { task });
                task
            }
            Step::Wake(task) => {
                self.emit(What::Woke { task });
                task
            }
        };
        match self.tasks[task].state {
            TaskState::Idle => self.schedule(worker, task),
            TaskState::Running => self.tasks[task].is_notified = true,
            TaskState::Ready | TaskState::Done => {}
        }
    }

    fn end_poll(&mut self, worker: usize, task: usize, ends: Ends) {
        self.emit(What::Ended { task, ends });
        self.workers[worker].phase = Phase::Idle;
        self.tasks[task].poll += 1;
        match ends {
            Ends::Ready => self.tasks[task].state = TaskState::Done,
            Ends::Yields => {
                self.make_ready(task);
                self.workers[worker].queue.push_back(task);
                if self.workers[worker].slot.is_some() {
                    self.notify_of_queue();
                }
            }
            Ends::Waits if std::mem::take(&mut self.tasks[task].is_notified) => {
                self.schedule(worker, task);
            }
            Ends::Waits => self.tasks[task].state = TaskState::Idle,
        }
    }

    fn make_ready(&mut self, task: usize) {
        let (ready_since, home) = (self.now, self.actor);
        let task = &mut self.tasks[task];
        (task.state, task.ready_since, task.home) = (TaskState::Ready, ready_since, home);
    }

    /// Rule 3, of which this is the side of the task that spawns or wakes.
    fn schedule(&mut self, worker: usize, task: usize) {
        self.make_ready(task);
        let pushed = match self.settings.parts.slot {
            true => self.workers[worker].slot.replace(task),
            false => Some(task),
        };
        if let Some(pushed) = pushed {
            self.workers[worker].queue.push_back(pushed);
            self.notify_of_queue();
        }
    }

    /// Without stealing, no worker could come for it.
    fn notify_of_queue(&mut self) {
        if self.settings.parts.stealing {
            self.notify();
        }
    }

    /// Rule 8.
    fn notify(&mut self) {
        let parts = self.settings.parts;
        if !parts.notification || (parts.throttle && self.searching > 0) {
            return;
        }
        let mut workers = self.workers.iter();
        let Some(chosen) = workers.position(|worker| worker.phase == Phase::Parked) else {
            return;
        };
        self.workers[chosen].phase = Phase::Unparking;
        self.workers[chosen].free_at = self.now + self.settings.wake;
        self.count_searcher(chosen);
        self.spent += self.settings.unpark;
        self.emit(What::Notified { worker: chosen });
    }
}
