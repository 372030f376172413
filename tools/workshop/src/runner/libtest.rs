//! Runs the `#[test]` functions of a snippet. The harness has no stable output
//! for machines, so this reads the one for people.

use std::collections::BTreeMap;
use std::io;

use crate::events::{Event, Events, Outcome, send};
use crate::sandbox::{self, Cause, Ended, Order, Stream};

/// Lists the tests, then runs them, and sends one event when each starts and
/// one or two when it ends: the message of a failure comes last. The order's
/// arguments, the names of some of the tests for instance, are passed on.
pub async fn run<Unwanted: Future<Output = ()>>(
    mut order: Order,
    events: &Events,
    unwanted: impl Fn() -> Unwanted,
) -> io::Result<Ended> {
    let arguments = std::mem::take(&mut order.arguments);
    order.arguments = arguments.clone();
    order
        .arguments
        .extend(["--list".into(), "--format=terse".into()]);
    let mut list = String::new();
    let listed = sandbox::run(&order, |_, text| list.push_str(&text), unwanted()).await?;
    if listed.cause != Cause::Exited(0) {
        return Ok(listed);
    }
    for name in list.lines().filter_map(|line| line.strip_suffix(": test")) {
        send(events, test(name, Outcome::Running, None));
    }

    order.arguments = arguments;
    order.arguments.push("--color=never".into());
    let mut transcript = Transcript::default();
    let on_output = |stream, text: String| match stream {
        Stream::Out => transcript.push(&text, events),
        Stream::Err => send(events, Event::Stderr { text }),
    };
    let ended = sandbox::run(&order, on_output, unwanted()).await?;
    transcript.finish(events);
    Ok(ended)
}

/// What the harness has printed so far.
#[derive(Default)]
struct Transcript {
    line: String,
    part: Part,
    failures: BTreeMap<String, String>,
}

/// The part of the transcript that is being read.
#[derive(Default)]
enum Part {
    /// One line a test.
    #[default]
    Results,
    /// After `failures:`, before the first failure.
    Failures,
    /// The captured output of this test.
    Failure(String),
    /// The names of the failed tests again, and the count.
    Summary,
}

impl Transcript {
    fn push(&mut self, text: &str, events: &Events) {
        self.line.push_str(text);
        while let Some(end) = self.line.find('\n') {
            let line: String = self.line.drain(..=end).collect();
            self.read(line.trim_end_matches(['\r', '\n']), events);
        }
    }

    fn finish(mut self, events: &Events) {
        if !self.line.is_empty() {
            let text = std::mem::take(&mut self.line);
            send(events, Event::Stdout { text });
        }
        for (name, message) in self.failures {
            let message = message.trim().to_owned();
            send(events, test(&name, Outcome::Failed, Some(message)));
        }
    }

    fn read(&mut self, line: &str, events: &Events) {
        match &self.part {
            Part::Results => self.read_result(line, events),
            Part::Failures | Part::Failure(_) => self.read_failure(line),
            Part::Summary => {}
        }
    }

    fn read_result(&mut self, line: &str, events: &Events) {
        if let Some((name, outcome)) = result(line) {
            send(events, test(name, outcome, None));
        } else if line == "failures:" {
            self.part = Part::Failures;
        } else if !is_about_the_harness(line) {
            let text = format!("{line}\n");
            send(events, Event::Stdout { text });
        }
    }

    fn read_failure(&mut self, line: &str) {
        let heading = line
            .strip_prefix("---- ")
            .and_then(|rest| rest.strip_suffix(" stdout ----"));
        if let Some(name) = heading {
            let name = name.trim_end_matches(" - should panic").to_owned();
            self.failures.insert(name.clone(), String::new());
            self.part = Part::Failure(name);
        } else if line == "failures:" {
            self.part = Part::Summary;
        } else if let Part::Failure(name) = &self.part
            && let Some(message) = self.failures.get_mut(name)
        {
            message.push_str(line);
            message.push('\n');
        }
    }
}

fn result(line: &str) -> Option<(&str, Outcome)> {
    let (name, outcome) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let outcome = match outcome {
        "ok" => Outcome::Passed,
        "FAILED" => Outcome::Failed,
        _ if outcome.starts_with("ignored") => Outcome::Ignored,
        _ => return None,
    };
    Some((name.trim_end_matches(" - should panic"), outcome))
}

fn is_about_the_harness(line: &str) -> bool {
    let counts = line.starts_with("running ") && line.contains(" test");
    line.is_empty() || counts || line.starts_with("test result: ")
}

fn test(name: &str, outcome: Outcome, message: Option<String>) -> Event {
    Event::Test {
        name: name.to_owned(),
        clause: None,
        outcome,
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, Outcome, Transcript, test};

    const TRANSCRIPT: &str = "
running 4 tests
test inner::adds ... ok
test is_slow ... ignored, takes long
test panics - should panic ... ok
loud line
test subtracts ... FAILED

failures:

---- subtracts stdout ----

thread 'subtracts' panicked at main.rs:3:5:
left is not right


failures:
    subtracts

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

";

    #[test]
    fn each_test_gets_its_outcome_and_a_failure_its_message() {
        let (events, mut received) = tokio::sync::mpsc::unbounded_channel();
        let mut transcript = Transcript::default();
        for piece in TRANSCRIPT.as_bytes().chunks(7) {
            transcript.push(std::str::from_utf8(piece).unwrap(), &events);
        }
        transcript.finish(&events);
        drop(events);

        let message = "thread 'subtracts' panicked at main.rs:3:5:\nleft is not right";
        let expected = [
            test("inner::adds", Outcome::Passed, None),
            test("is_slow", Outcome::Ignored, None),
            test("panics", Outcome::Passed, None),
            Event::Stdout {
                text: "loud line\n".into(),
            },
            test("subtracts", Outcome::Failed, None),
            test("subtracts", Outcome::Failed, Some(message.into())),
        ];
        for event in expected {
            assert_eq!(received.blocking_recv(), Some(event));
        }
        assert_eq!(received.blocking_recv(), None);
    }
}
