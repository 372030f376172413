//! What happens in a run, and what it comes to.

use super::loads::Ends;

/// Where a task was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The worker's own LIFO slot.
    Slot,
    /// The worker's own queue.
    Queue,
    /// The injector.
    Injector,
    /// Another worker's queue.
    Stolen,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The thread that is not a worker spawned a task.
    Injected {
        /// Which one.
        task: usize,
    },
    /// A task of this worker spawned another.
    Spawned {
        /// Which one.
        task: usize,
    },
    /// A task of this worker woke another.
    Woke {
        /// Which one.
        task: usize,
    },
    /// A poll began.
    Began {
        /// Of this task.
        task: usize,
        /// How long it had been ready.
        waited: u32,
        /// Where it came from.
        origin: Origin,
    },
    /// A poll ended.
    Ended {
        /// Of this task.
        task: usize,
        /// How.
        ends: Ends,
    },
    /// The worker took tasks from the injector.
    Took {
        /// How many.
        count: usize,
    },
    /// The worker began to search.
    Searched,
    /// The worker took tasks from another's queue.
    Stole {
        /// Whose.
        from: usize,
        /// How many.
        count: usize,
    },
    /// A `notify` unparked a worker.
    Notified {
        /// Which one.
        worker: usize,
    },
    /// The unparked worker runs.
    Unparked,
    /// The last look before parking found something.
    LookedAgain,
    /// The worker parked.
    Parked,
}

/// What happened, when, and on which thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// In tenths of a microsecond.
    pub time: u32,
    /// The worker, or `None` for the thread that is not a worker.
    pub worker: Option<usize>,
    /// What happened.
    pub what: What,
}

impl Event {
    /// As the numbers that the page's script has for it.
    pub(super) fn numbers(&self) -> [u32; 6] {
        let (kind, a, b, c) = match self.what {
            What::Injected { task } => (0, task, 0, 0),
            What::Spawned { task } => (1, task, 0, 0),
            What::Woke { task } => (2, task, 0, 0),
            What::Began {
                task,
                waited,
                origin,
            } => (3, task, waited, origin as usize),
            What::Ended { task, ends } => (4, task, ends as u32, 0),
            What::Took { count } => (5, count, 0, 0),
            What::Searched => (6, 0, 0, 0),
            What::Stole { from, count } => (7, from, count as u32, 0),
            What::Notified { worker } => (8, worker, 0, 0),
            What::Unparked => (9, 0, 0, 0),
            What::LookedAgain => (10, 0, 0, 0),
            What::Parked => (11, 0, 0, 0),
        };
        let who = self.worker.unwrap_or(9);
        [self.time, kind, who as u32, a as u32, b, c as u32]
    }
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// When the last task ended, unless some never do.
    pub makespan: Option<u32>,
    /// How long a ready task waited at most, if all were polled.
    pub longest_wait: Option<u32>,
    /// Of each worker.
    pub polls: Vec<u32>,
    /// How often a worker took from another's queue.
    pub steals: u32,
    /// How often a `notify` unparked a worker.
    pub unparks: u32,
    /// Of those, how many parked again without a poll.
    pub useless_unparks: u32,
    /// How often a worker parked.
    pub parks: u32,
}
