//! What the queue events of a trace amount to.

use std::collections::{BTreeMap, HashSet};

use crate::event::{Event, Kind};
use crate::queue::Queue;
use crate::reading::counted;
use crate::trace::Trace;

/// How many tasks are in a queue from some time on.
pub(crate) struct Length {
    pub time_ns: u64,
    /// Whose: a worker's own, including its slot; `None` is the global one.
    owner: Option<i32>,
    /// Below 0 for a moment if two threads report the same task at once.
    pub tasks: i64,
}

impl Length {
    pub(crate) fn queue_name(&self) -> String {
        match self.owner {
            Some(worker) => format!("queue of worker {worker}"),
            None => "global queue".to_owned(),
        }
    }
}

impl Trace {
    /// The lengths of all queues, in the order of time.
    pub(crate) fn lengths(&self) -> Vec<Length> {
        let mut now: BTreeMap<Option<i32>, i64> = BTreeMap::new();
        let mut lengths = Vec::new();
        let mut slots = HashSet::new();
        for event in &self.events {
            for (owner, change) in changes(event, &mut slots).into_iter().flatten() {
                let tasks = now.entry(owner).or_default();
                *tasks += change;
                lengths.push(Length {
                    time_ns: event.time_ns,
                    owner,
                    tasks: *tasks,
                });
            }
        }
        lengths
    }

    /// What became of the queues, in one sentence; none if nothing is known of them.
    pub(crate) fn queues(&self) -> Option<String> {
        let of = |kind: Kind| self.events.iter().filter(move |event| event.kind == kind);
        let moved = |kind: Kind| of(kind).map(|event| event.count as usize).sum::<usize>();
        let told = |kind: Kind, one: &str, many: &str| {
            let times = of(kind).count();
            (times > 0).then(|| counted(times, one, many))
        };
        let with_tasks = |kind: Kind, one: &str, many: &str, what: &str| {
            let tasks = counted(moved(kind), "task", "tasks");
            told(kind, one, many).map(|times| format!("{times} {what} {tasks}"))
        };
        let found = of(Kind::SearchEnd).filter(|event| event.arg == 1).count();
        let searches = told(Kind::SearchBegin, "search", "searches");
        let parts = [
            told(Kind::Push, "push", "pushes"),
            told(Kind::Pop, "pop", "pops"),
            with_tasks(Kind::Overflow, "overflow", "overflows", "of"),
            with_tasks(Kind::Steal, "steal", "steals", "of"),
            with_tasks(Kind::Take, "batch", "batches", "from the global queue, of"),
            searches.map(|searches| format!("{searches}, {found} with success")),
            told(Kind::Notify, "notification", "notifications"),
        ];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("The queues: {}.", parts.join("; ")))
    }
}

/// By how much an event changes which queues. `slots` are the workers whose slots have a task: a
/// task that is displaced from one is pushed, and so counted, next.
fn changes(event: &Event, slots: &mut HashSet<i32>) -> [Option<(Option<i32>, i64)>; 2] {
    let own = Some(event.worker);
    let count = i64::from(event.count);
    let queue = match event.arg == Queue::Global as u32 {
        true => None,
        false => own,
    };
    let in_slot = event.arg == Queue::Slot as u32;
    match event.kind {
        Kind::Push if in_slot && !slots.insert(event.worker) => [None, None],
        Kind::Pop if in_slot && !slots.remove(&event.worker) => [None, None],
        Kind::Push => [Some((queue, 1)), None],
        Kind::Pop => [Some((queue, -1)), None],
        // One of them wasn't in the worker's own queue yet.
        Kind::Overflow => [Some((own, 1 - count)), Some((None, count))],
        Kind::Steal => [Some((Some(event.arg as i32), -count)), Some((own, count))],
        Kind::Take => [Some((None, -count)), Some((own, count))],
        _ => [None, None],
    }
}

#[cfg(test)]
mod tests {
    use crate::event::{Event, Kind};
    use crate::trace::{Meta, Trace};

    #[test]
    fn whoever_is_put_out_of_the_slot_is_counted_once() {
        let event = |(time_ns, (kind, arg))| Event {
            time_ns,
            kind,
            worker: 0,
            task: 0,
            arg,
            count: 0,
        };
        let told = [
            (Kind::Push, 1),
            (Kind::Push, 1),
            (Kind::Push, 0),
            (Kind::Pop, 1),
            (Kind::Pop, 0),
        ];
        let events = (0..).zip(told).map(event).collect();
        let trace = Trace::new(Meta::default(), Vec::new(), events);
        let lengths: Vec<_> = trace.lengths().iter().map(|it| it.tasks).collect();
        assert_eq!(lengths, [1, 2, 1, 0]);
    }
}
