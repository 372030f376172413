//! The recording as text. The format is between this crate and what shows it: numbers, files and
//! lines; naming is done there, where the sources are read.

use std::fmt::Write;
use std::panic::Location;

use super::log::{Entry, Log, Object, Step, Thread};

/// What is known of the execution as a whole.
pub struct About<'a> {
    pub checker: &'a str,
    /// Which values loads returned.
    pub values: &'a str,
    pub newest_passed: bool,
    pub execution: u64,
    /// What it failed with.
    pub message: &'a str,
}

/// One line for each thread, object, step and entry of the order.
pub fn text(log: &Log, about: &About<'_>) -> String {
    let About {
        checker,
        values,
        newest_passed,
        execution,
        message,
    } = about;
    let message = string(message);
    let mut text = format!(
        "{{\"format\":\"primitives.order/1\",\"checker\":\"{checker}\",\"values\":\"{values}\",\
         \"newest_passed\":{newest_passed},\"execution\":{execution},\"message\":{message}"
    );
    list(&mut text, "threads", log.threads.iter().map(thread));
    list(&mut text, "objects", log.objects.iter().map(object));
    list(&mut text, "steps", log.steps.iter().map(step));
    list(&mut text, "order", log.order.iter().map(entry));
    text += "\n}\n";
    text
}

fn list(text: &mut String, name: &str, rows: impl Iterator<Item = String>) {
    let rows: Vec<_> = rows.collect();
    let _ = write!(text, ",\n\"{name}\":[\n{}\n]", rows.join(",\n"));
}

fn thread(thread: &Thread) -> String {
    let mut row = Row::new();
    if let Some(name) = &thread.name {
        row.add("name", string(name));
    }
    if let Some(place) = thread.place {
        row.place(place);
    }
    row.end()
}

fn object(object: &Object) -> String {
    let mut row = Row::new();
    row.add("kind", string(object.kind));
    if !object.initial.is_empty() {
        row.add("initial", string(&object.initial));
    }
    row.place(object.place);
    row.end()
}

fn step(step: &Step) -> String {
    let mut row = Row::new();
    row.add("thread", step.thread.to_string());
    row.add("operation", string(step.operation));
    for (key, number) in [("object", step.object), ("target", step.target)] {
        if let Some(number) = number {
            row.add(key, number.to_string());
        }
    }
    if !step.orderings.is_empty() {
        let orderings = step.orderings.iter();
        let orderings: Vec<_> = orderings.map(|it| string(&format!("{it:?}"))).collect();
        row.add("orderings", format!("[{}]", orderings.join(",")));
    }
    for (key, value) in [
        ("read", &step.read),
        ("wrote", &step.wrote),
        ("newest", &step.stale),
    ] {
        if let Some(value) = value {
            row.add(key, string(value));
        }
    }
    if step.has_failed {
        row.add("failed", "true".to_owned());
    }
    if !step.wakes.is_empty() {
        row.add("wakes", format!("{:?}", step.wakes));
    }
    row.place(step.place);
    row.end()
}

fn entry(entry: &Entry) -> String {
    match entry {
        Entry::Done(step) => format!("{{\"done\":{step}}}"),
        Entry::Sleeps(step) => format!("{{\"sleeps\":{step}}}"),
        Entry::Lost(orders) => format!("{{\"lost\":{orders}}}"),
        Entry::Panic {
            thread,
            message,
            place,
        } => {
            let mut row = Row::new();
            row.add("panics", thread.to_string());
            row.add("message", string(message));
            if let Some((file, line)) = place {
                row.add("file", string(file));
                row.add("line", line.to_string());
            }
            row.end()
        }
    }
}

/// An object of several fields.
struct Row(String);

impl Row {
    fn new() -> Self {
        Self(String::new())
    }

    fn add(&mut self, key: &str, value: String) {
        let comma = if self.0.is_empty() { "" } else { "," };
        let _ = write!(self.0, "{comma}\"{key}\":{value}");
    }

    fn place(&mut self, place: &Location<'_>) {
        self.add("file", string(place.file()));
        self.add("line", place.line().to_string());
        self.add("column", place.column().to_string());
    }

    fn end(self) -> String {
        format!("{{{}}}", self.0)
    }
}

fn string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            control if control < ' ' => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::string;

    #[test]
    fn text_is_quoted_as_json_wants_it() {
        assert_eq!(string("a \"b\" \\ \n"), "\"a \\\"b\\\" \\\\ \\u000a\"");
    }
}
