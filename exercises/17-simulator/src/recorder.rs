//! What happened, as the book's timeline reads it.

use std::fmt::Write;
use std::time::Duration;

/// Collects events. They contain nothing but what the seed determines, so that
/// two runs can be compared by their text.
pub struct Recorder {
    seed: u64,
    names: Vec<String>,
    marks: Vec<String>,
    events: Vec<Event>,
    /// The timeline's events are in the order of time.
    last: Duration,
    /// Events that there was no room for.
    dropped_count: u64,
}

/// How many events there's room for.
const ROOM: usize = 200_000;

struct Event {
    time: Duration,
    kind: &'static str,
    task: u32,
    argument: u32,
}

impl Recorder {
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            names: Vec::new(),
            marks: Vec::new(),
            events: Vec::new(),
            last: Duration::ZERO,
            dropped_count: 0,
        }
    }

    /// Names the next task.
    pub fn name(&mut self, name: &str) {
        self.names.push(name.into());
    }

    /// Stores a remark, and returns its index.
    pub fn mark(&mut self, text: String) -> u32 {
        self.marks.push(text);
        self.marks.len() as u32 - 1
    }

    pub fn record(
        &mut self,
        now: Duration,
        kind: &'static str,
        task: u32,
        argument: u32,
    ) {
        self.last = self.last.max(now);
        if self.events.len() >= ROOM {
            self.dropped_count += 1;
            return;
        }
        self.events.push(Event {
            time: self.last,
            kind,
            task,
            argument,
        });
    }

    pub fn poll_ended(&mut self, end: Duration, task: u32, is_over: bool) {
        self.record(end, "poll-", task, is_over.into());
    }

    /// Returns the document, with the schema `workshop.trace/1`.
    pub fn to_json(&self, title: &str) -> String {
        let names: Vec<_> = (1..)
            .zip(&self.names)
            .map(|(id, name)| format!("\"{id}\":{}", quoted(name)))
            .collect();
        let marks: Vec<_> = self.marks.iter().map(|it| quoted(it)).collect();
        let mut text = format!(
            "{{\"schema\":\"workshop.trace/1\",\n\
             \"meta\":{{\"title\":{},\"runtime\":\"simulation, seed {}\",\
             \"workers\":1,\"unit\":\"ns\",\"clock\":\"virtual\",\
             \"host\":{{\"os\":\"simulated\",\"cpu\":\"simulated\",\"cores\":1}},\
             \"recorded\":\"1970-01-01T00:00:00Z\",\
             \"source\":\"exercises/17-simulator\",\"event_cost_ns\":0,\
             \"dropped\":{},\"marks\":[{}]}},\n\"names\":{{{}}},\n\
             \"cols\":[\"t\",\"k\",\"w\",\"task\",\"arg\"],\n\"events\":[",
            quoted(title),
            self.seed,
            self.dropped_count,
            marks.join(","),
            names.join(",")
        );
        for (index, event) in self.events.iter().enumerate() {
            let Event {
                time,
                kind,
                task,
                argument,
            } = event;
            let comma = if index == 0 { "" } else { "," };
            let time = time.as_nanos();
            let row = format_args!("[{time},\"{kind}\",0,{task},{argument}]");
            write!(text, "{comma}\n{row}").expect("a `String` takes all");
        }
        text.push_str("\n]}\n");
        text
    }
}

/// A string in JSON, which may also be inside a `<script>`.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            c if c == '<' || c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
