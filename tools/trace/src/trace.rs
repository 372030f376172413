//! What was recorded.

use std::fmt;

use crate::event::{Event, Kind};
use crate::host::host;
use crate::json::{self, Text};

/// What was recorded, in the order of time.
#[derive(Debug)]
pub struct Trace {
    pub(crate) meta: Meta,
    pub(crate) names: Vec<String>,
    pub(crate) events: Vec<Event>,
}

/// What a trace says about itself.
#[derive(Debug, Default)]
pub(crate) struct Meta {
    pub title: String,
    pub runtime: String,
    pub workers: usize,
    pub recorded: String,
    pub source: String,
    pub event_cost_ns: u64,
    pub dropped: u64,
    pub dropped_from_ns: Option<u64>,
    pub marks: Vec<String>,
}

impl Trace {
    pub(crate) fn new(meta: Meta, names: Vec<String>, events: Vec<Event>) -> Self {
        Self {
            meta,
            names,
            events,
        }
    }

    /// How many events were lost because a thread's buffer was full.
    pub fn dropped(&self) -> u64 {
        self.meta.dropped
    }

    /// The document, with the schema `workshop.trace/1`: one event a line, and no
    /// line is blank.
    pub fn to_json(&self) -> String {
        let names = self.names.iter().zip(1..);
        let names: Vec<_> = names
            .map(|(name, id)| format!("\"{id}\":{}", Text(name)))
            .collect();
        let events = self.events.iter().map(Row);
        let is_counted = self.events.iter().any(|event| event.count > 0);
        let counts = if is_counted { ",\"count\"" } else { "" };
        format!(
            "{{\"schema\":\"workshop.trace/1\",\n\"meta\":{},\n\"names\":{{{}}},\n\
             \"cols\":[\"t\",\"k\",\"w\",\"task\",\"arg\"{counts}],\n\"events\":{}}}\n",
            self.meta,
            names.join(","),
            json::lines(events)
        )
    }

    /// Hands the document to the program that asked for it: writes it as `name.json` into the
    /// folder that `WORKSHOP_FIGURES` names, or does nothing if there is none. A name has the
    /// letters `a` to `z`, digits and `-`.
    pub fn save(&self, name: &str) {
        json::save(name, &self.to_json());
    }

    /// The name of a task.
    pub(crate) fn name(&self, task: u32) -> &str {
        let index = usize::try_from(task).ok().and_then(|id| id.checked_sub(1));
        index
            .and_then(|index| self.names.get(index))
            .map_or("?", String::as_str)
    }
}

struct Row<'a>(&'a Event);

impl fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Event {
            time_ns,
            kind,
            worker,
            task,
            arg,
            count,
        } = self.0;
        write!(f, "[{time_ns},\"{}\",{worker},{task},{arg}", kind.name())?;
        match count {
            0 => f.write_str("]"),
            count => write!(f, ",{count}]"),
        }
    }
}

impl fmt::Display for Meta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let marks: Vec<_> = self
            .marks
            .iter()
            .map(|mark| Text(mark).to_string())
            .collect();
        write!(
            f,
            "{{\"title\":{},\"runtime\":{},\"workers\":{},\"unit\":\"ns\",\"clock\":\"Instant\",\n\
             \"host\":{},\"recorded\":{},\n\"source\":{},\"event_cost_ns\":{},\"dropped\":{},",
            Text(&self.title),
            Text(&self.runtime),
            self.workers,
            host(),
            Text(&self.recorded),
            Text(&self.source),
            self.event_cost_ns,
            self.dropped
        )?;
        if let Some(time_ns) = self.dropped_from_ns {
            write!(f, "\"dropped_from_ns\":{time_ns},")?;
        }
        write!(f, "\"marks\":[{}]}}", marks.join(","))
    }
}

impl Kind {
    /// Returns `true` if the event says that the task has something to do.
    pub(crate) fn makes_ready(self) -> bool {
        matches!(self, Self::Spawn | Self::Job | Self::Wake)
    }
}
