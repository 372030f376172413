//! The documents as they are read: their shape, and the rules that a schema can't express.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::event;
pub use crate::event::Kind;
pub use crate::steps::Steps;

/// What [`Trace::to_json`](crate::Trace::to_json) writes.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "workshop.trace/1"))]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// Which kind of document it is.
    pub schema: TraceSchema,
    /// Where and how it was recorded.
    pub meta: Meta,
    /// The names of the tasks by their numbers, which count from 1.
    pub names: BTreeMap<String, String>,
    /// What the numbers of an event are: `t`, `k`, `w`, `task`, `arg`, and `count`
    /// if any event has one.
    #[cfg_attr(feature = "schema", schemars(length(min = 5, max = 6)))]
    pub cols: Vec<String>,
    /// The events, in the order of time.
    pub events: Vec<Event>,
}

/// The first version of a trace.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TraceSchema {
    /// Its name.
    #[serde(rename = "workshop.trace/1")]
    Trace1,
}

/// Where and how a trace was recorded.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Meta {
    /// What was recorded.
    pub title: String,
    /// The runtime, with its version.
    pub runtime: String,
    /// How many workers there were.
    pub workers: u32,
    /// The unit of time, `ns`.
    pub unit: String,
    /// The clock, `Instant`.
    pub clock: String,
    /// The machine.
    pub host: Host,
    /// When, as `2026-11-21T12:00:00Z`.
    pub recorded: String,
    /// The program's file.
    pub source: String,
    /// What it took to record one event, measured before the start.
    pub event_cost_ns: u64,
    /// Events lost for lack of room.
    pub dropped: u64,
    /// When the first of them was lost.
    pub dropped_from_ns: Option<u64>,
    /// The texts of the `mark` events.
    pub marks: Vec<String>,
}

/// The machine.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// The operating system.
    pub os: String,
    /// The processor.
    pub cpu: String,
    /// How many threads run at once.
    pub cores: u32,
}

/// One event: time from the start of the recording in nanoseconds; kind; worker, -1 for a thread
/// that isn't one; task, 0 for none; argument; count, if it isn't 0.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("minItems" = 5)))]
pub struct Event(
    pub u64,
    pub Kind,
    pub i32,
    pub u32,
    pub u32,
    #[serde(default)] pub u32,
);

/// What [`Sweep::to_json`](crate::Sweep::to_json) writes.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "workshop.sweep/1"))]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// Which kind of document it is.
    pub schema: SweepSchema,
    /// What was measured: the name of the curve.
    pub title: String,
    /// The runtime, with its version.
    pub runtime: String,
    /// The machine.
    pub host: Host,
    /// When, as `2026-11-21T12:00:00Z`.
    pub recorded: String,
    /// The program's file.
    pub source: String,
    /// How long a constant piece of work took, measured in between.
    pub calibration_ns: Vec<u64>,
    /// The name of the number that was varied.
    pub x: String,
    /// What was measured, in the order of that number.
    pub points: Vec<Point>,
}

/// The first version of a sweep.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SweepSchema {
    /// Its name.
    #[serde(rename = "workshop.sweep/1")]
    Sweep1,
}

/// What was measured at one value of the number.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Point {
    /// Items a second, of each repeat.
    pub items_per_s: Vec<f64>,
    /// What a victim waited from wake-up to poll; `null` if it wasn't measured.
    pub wake_ns: Option<Waits>,
    /// The number itself, under its name.
    #[serde(flatten)]
    pub x: BTreeMap<String, u64>,
}

/// How long something waited.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Waits {
    /// How many waits were measured.
    pub count: u64,
    /// Half of them were shorter.
    pub p50: u64,
    /// Nine in ten were shorter.
    pub p90: u64,
    /// Ninety-nine in a hundred were shorter.
    pub p99: u64,
    /// All of them, or evenly spaced quantiles, in order.
    pub samples: Vec<u64>,
}

/// A document of any kind.
#[derive(Debug)]
pub enum Document {
    /// A trace.
    Trace(Box<Trace>),
    /// A sweep.
    Sweep(Box<Sweep>),
    /// An order of steps.
    Steps(Box<Steps>),
}

impl Document {
    /// Reads a document, and checks what no schema says.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in one sentence without a period.
    pub fn read(text: &str) -> Result<Self, String> {
        let has = |schema: &str| text.contains(&format!("\"{schema}/"));
        if has("workshop.sweep") {
            read(text, Sweep::fault, Self::Sweep)
        } else if has("workshop.steps") {
            read(text, Steps::fault, Self::Steps)
        } else {
            read(text, Trace::fault, Self::Trace)
        }
    }

    /// The program that it was recorded by, if any was.
    pub fn source(&self) -> Option<&str> {
        match self {
            Self::Trace(trace) => Some(&trace.meta.source),
            Self::Sweep(sweep) => Some(&sweep.source),
            Self::Steps(_) => None,
        }
    }
}

fn read<T: DeserializeOwned>(
    text: &str,
    fault: impl Fn(&T) -> Option<String>,
    document: impl Fn(Box<T>) -> Document,
) -> Result<Document, String> {
    let read: T = serde_json::from_str(text).map_err(|error| error.to_string())?;
    fault(&read).map_or_else(|| Ok(document(read.into())), Err)
}

impl From<Trace> for crate::Trace {
    fn from(document: Trace) -> Self {
        let Trace {
            mut names,
            meta,
            events,
            ..
        } = document;
        let last = names.keys().filter_map(|id| id.parse::<u32>().ok()).max();
        let name = |id: u32| names.remove(&id.to_string()).unwrap_or_default();
        let names = (1..=last.unwrap_or(0)).map(name).collect();
        let event = |Event(time_ns, kind, worker, task, arg, count)| event::Event {
            time_ns,
            kind,
            worker,
            task,
            arg,
            count,
        };
        let meta = crate::trace::Meta {
            title: meta.title,
            runtime: meta.runtime,
            workers: meta.workers as usize,
            recorded: meta.recorded,
            source: meta.source,
            event_cost_ns: meta.event_cost_ns,
            dropped: meta.dropped,
            dropped_from_ns: meta.dropped_from_ns,
            marks: meta.marks,
        };
        Self::new(meta, names, events.into_iter().map(event).collect())
    }
}

impl Trace {
    fn fault(&self) -> Option<String> {
        const COLUMNS: [&str; 6] = ["t", "k", "w", "task", "arg", "count"];
        let is_counted = self.events.iter().any(|event| event.5 > 0);
        if self.cols != COLUMNS[..5 + usize::from(is_counted)] {
            return Some(format!("the columns are {:?}", self.cols));
        }
        if self.events.is_empty() {
            return Some("it has no events".into());
        }
        let mut last_ns = 0;
        let mut open: HashMap<u32, u32> = HashMap::new();
        for event in &self.events {
            let &Event(time_ns, kind, worker, task, arg, count) = event;
            let fault = |what: &str| Some(format!("{what}: {event:?}"));
            if time_ns < last_ns {
                return fault("an event is out of order");
            }
            last_ns = time_ns;
            let names_worker = matches!(kind, Kind::Steal | Kind::Notify);
            let named = [u32::try_from(worker).ok(), names_worker.then_some(arg)];
            if named
                .into_iter()
                .flatten()
                .any(|one| one >= self.meta.workers)
            {
                return fault("there is no such worker");
            }
            if matches!(kind, Kind::Push | Kind::Pop) && arg > 2 {
                return fault("there is no such queue");
            }
            let counts = matches!(kind, Kind::Overflow | Kind::Steal | Kind::Take);
            if counts != (count > 0) {
                return fault("a count is missing, or too many");
            }
            let names_task = matches!(kind, Kind::Spawn | Kind::Job | Kind::Wake);
            let named = [Some(task), names_task.then_some(arg)];
            let is_known = |id: u32| id == 0 || self.names.contains_key(&id.to_string());
            if !named.into_iter().flatten().all(is_known) {
                return fault("there is no such task");
            }
            let depth = open.entry(task).or_default();
            match kind {
                // A task is polled by one thread at a time.
                Kind::PollBegin if *depth > 0 => return fault("a task is polled twice at once"),
                Kind::PollBegin => *depth += 1,
                Kind::PollEnd if *depth == 0 => return fault("a poll ends that never began"),
                Kind::PollEnd => *depth -= 1,
                Kind::Mark if self.meta.marks.get(arg as usize).is_none() => {
                    return fault("there is no such mark");
                }
                _ => {}
            }
        }
        None
    }
}

impl Sweep {
    fn fault(&self) -> Option<String> {
        if self.points.is_empty() {
            return Some("it has no points".into());
        }
        let mut last = None;
        for point in &self.points {
            let at = point.x.get(&self.x).copied();
            if at.is_none() || point.x.len() > 1 {
                return Some(format!("a point has other numbers than `{}`", self.x));
            }
            if at <= last {
                return Some(format!("the points are not in the order of `{}`", self.x));
            }
            last = at;
            if point.items_per_s.is_empty() && point.wake_ns.is_none() {
                return Some(format!("nothing was measured at {at:?}"));
            }
        }
        None
    }
}
