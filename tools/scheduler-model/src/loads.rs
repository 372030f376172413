//! What the workers have to do, which doesn't depend on the parts.

use super::random::Random;

/// A load of the figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadName {
    /// A thread that is not a worker spawns sixteen short tasks, and all workers are
    /// parked.
    Burst,
    /// One task spawns eight others, and goes on with a long poll.
    Long,
    /// Two tasks wake each other, twelve polls each. The first also spawns a third.
    Pair,
    /// Each worker has two tasks that yield, and three come to the injector.
    Busy,
}

impl LoadName {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Burst, Self::Long, Self::Pair, Self::Busy];
}

/// One step of a poll.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Takes so long.
    Work(u32),
    /// Makes that task ready for the first time.
    Spawn(usize),
    /// Makes that task ready again.
    Wake(usize),
}

/// How a poll ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// The task is done.
    Ready,
    /// The task is ready again at once.
    Yields,
    /// The task waits to be woken.
    Waits,
}

/// What a task does from one poll to the next.
#[derive(Clone, Debug)]
pub struct Poll {
    /// One after the other.
    pub steps: Vec<Step>,
    /// And then.
    pub ends: Ends,
}

/// The polls of a task, from the first to that which is ready.
pub type TaskScript = Vec<Poll>;

/// What the thread that is not a worker does next.
#[derive(Clone, Copy, Debug)]
pub struct Push {
    /// So long after the push before it.
    pub after: u32,
    /// What it pushes.
    pub task: usize,
}

/// A load, spelled out.
#[derive(Clone, Debug)]
pub struct Load {
    /// What each task does.
    pub tasks: Vec<TaskScript>,
    /// What is in the workers' queues at first, for as many workers as have any.
    pub queues: Vec<Vec<usize>>,
    /// What the thread that is not a worker does.
    pub pushes: Vec<Push>,
}

impl Load {
    pub(super) fn new(name: LoadName, workers: usize, random: &mut Random) -> Self {
        match name {
            LoadName::Burst => burst(random),
            LoadName::Long => long(random),
            LoadName::Pair => pair(random),
            LoadName::Busy => busy(workers, random),
        }
    }
}

impl Load {
    /// Tasks that spawn one another at random times, or come from outside: for tests, since
    /// the figure's loads are few.
    pub(super) fn at_random(random: &mut Random) -> Self {
        let mut load = Self {
            tasks: Vec::new(),
            queues: vec![vec![0]],
            pushes: Vec::new(),
        };
        for task in 0..1 + random.below(14) as usize {
            let polls = (0..1 + random.below(3)).map(|_| Poll {
                steps: vec![Step::Work(1 + random.below(80))],
                ends: Ends::Yields,
            });
            let mut script: TaskScript = polls.collect();
            script.last_mut().unwrap().ends = Ends::Ready;
            load.tasks.push(script);
            if task == 0 {
                continue;
            }
            if random.below(3) == 0 {
                let after = random.below(60);
                load.pushes.push(Push { after, task });
                continue;
            }
            let parent = &mut load.tasks[random.below(task as u32) as usize];
            let poll = random.below(parent.len() as u32) as usize;
            let spawn = Step::Spawn(task);
            parent[poll]
                .steps
                .extend([spawn, Step::Work(1 + random.below(30))]);
        }
        load
    }
}

fn once(length: u32) -> TaskScript {
    vec![Poll {
        steps: vec![Step::Work(length)],
        ends: Ends::Ready,
    }]
}

fn burst(random: &mut Random) -> Load {
    let tasks: Vec<_> = (0..16).map(|_| once(random.about(10))).collect();
    let pushes = (0..tasks.len()).map(|task| Push {
        after: if task == 0 { 0 } else { 2 },
        task,
    });
    Load {
        pushes: pushes.collect(),
        queues: Vec::new(),
        tasks,
    }
}

fn long(random: &mut Random) -> Load {
    let children = 1..=8;
    let mut steps: Vec<_> = children
        .clone()
        .flat_map(|child| [Step::Work(2), Step::Spawn(child)])
        .collect();
    steps.push(Step::Work(400));
    let ends = Ends::Ready;
    let mut tasks = vec![vec![Poll { steps, ends }]];
    tasks.extend(children.map(|_| once(random.about(30))));
    Load {
        tasks,
        queues: vec![vec![0]],
        pushes: Vec::new(),
    }
}

fn pair(random: &mut Random) -> Load {
    let rounds = 12;
    let lengths = [random.about(10), random.about(10)];
    let script = |own: usize| {
        let poll = |round| {
            let is_last = round == rounds - 1;
            let mut steps = vec![Step::Work(lengths[own])];
            if own == 0 && round == 0 {
                steps.push(Step::Spawn(2));
            }
            // The second task ends last, and has no task to wake.
            if own == 0 || !is_last {
                steps.push(Step::Wake(1 - own));
            }
            let ends = if is_last { Ends::Ready } else { Ends::Waits };
            Poll { steps, ends }
        };
        (0..rounds).map(poll).collect()
    };
    let tasks = vec![script(0), script(1), once(random.about(10))];
    Load {
        tasks,
        queues: vec![vec![0]],
        pushes: Vec::new(),
    }
}

fn busy(workers: usize, random: &mut Random) -> Load {
    let rounds = 12;
    let mut tasks = Vec::new();
    for _ in 0..2 * workers {
        let steps = vec![Step::Work(random.about(10))];
        let yields = Poll {
            steps: steps.clone(),
            ends: Ends::Yields,
        };
        let mut script = vec![yields; rounds - 1];
        let ends = Ends::Ready;
        script.push(Poll { steps, ends });
        tasks.push(script);
    }
    let pushes = [30, 40, 40].map(|after| {
        tasks.push(once(random.about(10)));
        let task = tasks.len() - 1;
        Push { after, task }
    });
    Load {
        tasks,
        queues: (0..workers)
            .map(|worker| vec![2 * worker, 2 * worker + 1])
            .collect(),
        pushes: pushes.to_vec(),
    }
}
