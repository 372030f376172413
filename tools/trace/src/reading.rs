//! What the events of a trace amount to: polls, waits and sleeps.

use std::collections::{HashMap, HashSet};

use crate::event::{Event, Kind};
use crate::trace::Trace;

/// One poll of a task. A poll may be within the poll of another task on the same thread, if a part
/// of it was wrapped, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Poll {
    /// The task's number, counted from 1 in the order of their making.
    pub task: u32,
    /// The worker; -1 is a thread that isn't one.
    pub worker: i32,
    /// When it began, from the start of the recording.
    pub start_ns: u64,
    /// When it ended; `None` if the recording ended first.
    pub end_ns: Option<u64>,
    /// How long the task had something to do before it: from when it was made or woken, or, if it
    /// was woken while it ran, from the end of that poll. `None` if nothing requested this poll.
    pub waited_ns: Option<u64>,
    /// Which task requested it, 0 if none did.
    pub asked_by: u32,
    /// Whether the task was ready then.
    pub is_ready: bool,
}

/// The time for which a worker slept, or searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Park {
    /// The worker.
    pub worker: i32,
    /// When it parked, or began to search.
    pub start_ns: u64,
    /// When it was unparked, or no longer searched; `None` if the recording ended first.
    pub end_ns: Option<u64>,
}

/// What is known of a task up to some event.
#[derive(Default)]
struct State {
    ready_since: Option<Event>,
    last_end_ns: u64,
    open: Vec<usize>,
}

impl Trace {
    /// The polls of all tasks of this name, in the order of time.
    pub fn polls(&self, name: &str) -> Vec<Poll> {
        let mut polls = self.all_polls();
        polls.retain(|poll| self.name(poll.task) == name);
        polls
    }

    /// How long the tasks of this name waited before each poll that was requested, in nanoseconds:
    /// their latency.
    pub fn waits_ns(&self, name: &str) -> Vec<u64> {
        let polls = self.polls(name).into_iter();
        polls.filter_map(|poll| poll.waited_ns).collect()
    }

    /// The polls of all tasks, in the order of time.
    pub fn all_polls(&self) -> Vec<Poll> {
        let mut polls: Vec<Poll> = Vec::new();
        let mut tasks: HashMap<u32, State> = HashMap::new();
        for event in &self.events {
            let state = tasks.entry(event.task).or_default();
            match event.kind {
                Kind::PollBegin => {
                    let request = state.ready_since.take();
                    let since = |request: Event| request.time_ns.max(state.last_end_ns);
                    state.open.push(polls.len());
                    polls.push(Poll {
                        task: event.task,
                        worker: event.worker,
                        start_ns: event.time_ns,
                        end_ns: None,
                        waited_ns: request.map(|request| event.time_ns - since(request)),
                        asked_by: request.map_or(0, |request| request.arg),
                        is_ready: false,
                    });
                }
                Kind::PollEnd => {
                    state.last_end_ns = event.time_ns;
                    if let Some(index) = state.open.pop() {
                        polls[index].end_ns = Some(event.time_ns);
                        polls[index].is_ready = event.arg == 1;
                    }
                }
                kind if kind.makes_ready() => {
                    state.ready_since.get_or_insert(*event);
                }
                _ => {}
            }
        }
        polls
    }

    /// The sleeps of all workers, in the order of time.
    pub fn parks(&self) -> Vec<Park> {
        self.between(Kind::Park, Kind::Unpark)
    }

    /// The searches of all workers, in the order of time.
    pub fn searches(&self) -> Vec<Park> {
        self.between(Kind::SearchBegin, Kind::SearchEnd)
    }

    /// From each event of one kind to the next of the other kind on that worker.
    fn between(&self, begin: Kind, end: Kind) -> Vec<Park> {
        let mut parks: Vec<Park> = Vec::new();
        let mut open: HashMap<i32, usize> = HashMap::new();
        for event in &self.events {
            if event.kind == begin && !open.contains_key(&event.worker) {
                open.insert(event.worker, parks.len());
                parks.push(Park {
                    worker: event.worker,
                    start_ns: event.time_ns,
                    end_ns: None,
                });
            } else if event.kind == end
                && let Some(index) = open.remove(&event.worker)
            {
                parks[index].end_ns = Some(event.time_ns);
            }
        }
        parks
    }

    /// The trace in a few sentences: totals, the longest poll, the longest wait,
    /// and what became of the queues if anything is known of them.
    pub fn sentences(&self) -> Vec<String> {
        let (polls, jobs) = (self.all_polls(), self.jobs());
        let mut sentences = vec![self.totals(&polls, &jobs)];
        let ended = polls
            .iter()
            .filter_map(|poll| Some((poll.end_ns? - poll.start_ns, poll)));
        if let Some((time, poll)) = ended.max_by_key(|(time, _)| *time) {
            let (name, place) = (self.name(poll.task), place(poll.worker));
            let (time, start) = (Time(time), Time(poll.start_ns));
            let what = if jobs.contains(&poll.task) {
                "job"
            } else {
                "poll"
            };
            sentences.push(format!(
                "The longest {what} took {time}: `{name}` {place}, from {start} on."
            ));
        }
        let waits = polls
            .iter()
            .filter_map(|poll| Some((poll.waited_ns?, poll)));
        if let Some((time, poll)) = waits.max_by_key(|(time, _)| *time) {
            let (name, start) = (self.name(poll.task), Time(poll.start_ns));
            let since = Time(poll.start_ns - time);
            let time = Time(time);
            let ran = if jobs.contains(&poll.task) {
                "began"
            } else {
                "polled"
            };
            sentences.push(format!(
                "The longest wait was {time}: `{name}` was ready at {since}, and {ran} at {start}."
            ));
        }
        sentences.extend(self.queues());
        if let Some(from) = self.meta.dropped_from_ns {
            let (lost, from) = (self.dropped(), Time(from));
            sentences.push(format!("{lost} events were lost, from {from} on."));
        }
        sentences
    }

    fn totals(&self, polls: &[Poll], jobs: &HashSet<u32>) -> String {
        let tasks = self.names.len() - jobs.len();
        let polls = polls.iter().filter(|poll| !jobs.contains(&poll.task));
        let times = match polls.count() {
            1 => "once".to_owned(),
            2 => "twice".to_owned(),
            many => format!("{many} times"),
        };
        let tasks = counted(tasks, "task was", "tasks were");
        let jobs = counted(jobs.len(), "job ran", "jobs ran");
        let what = match (tasks.starts_with("0 "), jobs.starts_with("0 ")) {
            (_, true) => format!("{tasks} polled {times}"),
            (true, false) => jobs,
            (false, false) => format!("{tasks} polled {times}, and {jobs},"),
        };
        let workers = counted(self.meta.workers, "worker", "workers");
        let length = self.events.last().map_or(0, |event| event.time_ns);
        format!("{what} on {workers} within {}.", Time(length))
    }

    /// Work that ran once, and isn't a task.
    fn jobs(&self) -> HashSet<u32> {
        let made = self.events.iter().filter(|event| event.kind == Kind::Job);
        made.map(|event| event.task).collect()
    }
}

pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn place(worker: i32) -> String {
    match worker {
        -1 => "on a thread that is no worker".to_owned(),
        worker => format!("on worker {worker}"),
    }
}

/// A time in nanoseconds, in a unit that suits it.
struct Time(u64);

impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ns = self.0 as f64;
        match self.0 {
            0..1_000 => write!(f, "{} ns", self.0),
            1_000..100_000 => write!(f, "{:.1} µs", ns / 1e3),
            100_000..10_000_000 => write!(f, "{:.2} ms", ns / 1e6),
            10_000_000..1_000_000_000 => write!(f, "{:.1} ms", ns / 1e6),
            _ => write!(f, "{:.2} s", ns / 1e9),
        }
    }
}
