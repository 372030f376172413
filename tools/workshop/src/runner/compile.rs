//! Calls the compiler directly: cargo would do the same more slowly.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::crates::Externs;
use super::exit::milliseconds;
use super::request::{Mode, Request};
use crate::events::{Event, Events, Exit, Reason, send};
use crate::problem::Problem;
use crate::sandbox::{self, Cause, Ended, Limits, Order, Stream};

/// The executable's name in the slot, the same on every system.
const OUTPUT: &str = "snippet.out";

/// One compilation.
pub struct Job<'a> {
    /// What to compile, and how.
    pub request: &'a Request,
    /// The crates it may use.
    pub externs: &'a Externs,
    /// The folder with `main.rs` and the incremental state. The compiler works in
    /// it and writes to it, since with another current folder or another output
    /// it wouldn't use the state.
    pub slot: &'a Path,
    /// Where the executable is moved then.
    pub executable: PathBuf,
    /// For the compiler's temporary files: one that is ended leaves them.
    pub temporary: &'a Path,
}

/// What became of a compilation.
pub struct Compiled {
    /// How long it took.
    pub time: Duration,
    /// How the run ends if there is no executable.
    pub outcome: Result<(), Exit>,
}

/// Compiles the code, and sends a diagnostic event for each message.
///
/// # Errors
///
/// When the compiler can't be started.
pub async fn compile(
    job: &Job<'_>,
    events: &Events,
    unwanted: impl Future<Output = ()>,
) -> Result<Compiled, Problem> {
    let order = order(job);
    let mut messages = Messages::default();
    let on_output = |stream, text: String| {
        if stream == Stream::Err {
            messages.push(&text, events);
        }
    };
    let ended = sandbox::run(&order, on_output, unwanted)
        .await
        .map_err(|error| {
            Problem::new(format!("the compiler could not be run: {error}"))
                .help("install Rust as https://rustup.rs says, and start `cargo workshop` again")
        })?;
    messages.finish(events);
    let outcome = outcome(ended, order.limits.wall);
    if outcome.is_ok() {
        std::fs::rename(job.slot.join(OUTPUT), &job.executable)
            .map_err(|error| Problem::new(format!("the executable cannot be moved: {error}")))?;
    }
    Ok(Compiled {
        time: ended.time,
        outcome,
    })
}

fn outcome(ended: Ended, wall: Duration) -> Result<(), Exit> {
    let (reason, message) = match ended.cause {
        Cause::Exited(0) => return Ok(()),
        Cause::Exited(_) => (Reason::CompileError, None),
        Cause::Timeout => {
            let seconds = wall.as_secs();
            (
                Reason::Timeout,
                Some(format!("the compiler was ended after {seconds} seconds")),
            )
        }
        Cause::Cancelled => (Reason::Killed, Some("stopped".into())),
        cause => (
            Reason::Killed,
            Some(format!("the compiler didn't finish: it {cause}")),
        ),
    };
    Err(Exit {
        reason,
        code: None,
        compile_ms: Some(milliseconds(ended.time)),
        run_ms: None,
        message,
    })
}

fn order(job: &Job<'_>) -> Order {
    let mut arguments: Vec<String> = [
        "main.rs",
        "--crate-name=snippet",
        "--crate-type=bin",
        "--edition=2024",
        "--error-format=json",
        "-Cdebuginfo=0",
        "-Cincremental=state",
    ]
    .map(String::from)
    .to_vec();
    if job.request.mode == Mode::Release {
        arguments.push("-Copt-level=3".into());
    }
    if job.request.tests {
        arguments.push("--test".into());
    }
    arguments.push(format!("-o{OUTPUT}"));
    arguments.extend(job.externs.arguments().iter().cloned());
    let wall = match job.request.mode {
        Mode::Debug => Duration::from_secs(30),
        Mode::Release => Duration::from_secs(60),
    };
    Order {
        program: job.externs.rustc().to_path_buf(),
        arguments,
        folder: job.slot.to_path_buf(),
        inherit_environment: true,
        variables: vec![("TMPDIR".into(), job.temporary.display().to_string())],
        limits: Limits::compiler(wall),
    }
}

/// The most messages of each level that are shown. A page with thousands is slow.
const MESSAGES_MOST: usize = 200;

/// Puts the compiler's lines together and turns them into events.
#[derive(Default)]
struct Messages {
    line: String,
    error_count: usize,
    warning_count: usize,
}

#[derive(Deserialize)]
struct Diagnostic {
    level: String,
    message: String,
    rendered: Option<String>,
    spans: Vec<Span>,
}

#[derive(Deserialize)]
struct Span {
    line_start: u32,
    is_primary: bool,
}

impl Messages {
    fn push(&mut self, text: &str, events: &Events) {
        self.line.push_str(text);
        while let Some(end) = self.line.find('\n') {
            let line: String = self.line.drain(..=end).collect();
            self.tell(line.trim_end(), events);
        }
    }

    fn finish(mut self, events: &Events) {
        let line = std::mem::take(&mut self.line);
        // What begins as JSON was cut off: there was far too much of it.
        if !line.is_empty() && !line.starts_with('{') {
            self.tell(&line, events);
        }
        for (count, what) in [
            (self.error_count, "errors"),
            (self.warning_count, "warnings"),
        ] {
            if let Some(more @ 1..) = count.checked_sub(MESSAGES_MOST) {
                let text = format!("{more} more {what} aren't shown\n");
                send(events, Event::Stderr { text });
            }
        }
    }

    /// Whether a message of this level is one too many; counts it.
    fn is_too_many(&mut self, level: &str) -> bool {
        let count = match level {
            "error" => &mut self.error_count,
            _ => &mut self.warning_count,
        };
        *count += 1;
        *count > MESSAGES_MOST
    }

    fn tell(&mut self, line: &str, events: &Events) {
        match serde_json::from_str::<Diagnostic>(line) {
            Ok(diagnostic) if is_summary(&diagnostic) || self.is_too_many(&diagnostic.level) => {}
            Ok(diagnostic) => tell(diagnostic, events),
            Err(_) => {
                // A compiler that crashes, or a linker, doesn't speak JSON.
                let text = format!("{line}\n");
                send(events, Event::Stderr { text });
            }
        }
    }
}

/// The summaries at the end say nothing that the messages don't.
fn is_summary(diagnostic: &Diagnostic) -> bool {
    diagnostic.spans.is_empty()
        && (diagnostic.level == "failure-note"
            || diagnostic.message.starts_with("aborting due to")
            || diagnostic.message.ends_with("emitted"))
}

fn tell(diagnostic: Diagnostic, events: &Events) {
    let primary = diagnostic.spans.iter().find(|span| span.is_primary);
    send(
        events,
        Event::Diagnostic {
            line: primary.map(|span| span.line_start),
            rendered: diagnostic.rendered.unwrap_or(diagnostic.message),
            level: diagnostic.level,
        },
    );
}

#[cfg(test)]
mod tests {
    use super::{Event, Messages};

    #[test]
    fn a_message_cut_in_two_arrives_once_with_its_line() {
        let message = r#"{"level":"error","message":"no","rendered":"error: no\n","spans":[{"line_start":3,"is_primary":true}]}"#;
        let summary = r#"{"level":"error","message":"aborting due to 1 previous error","rendered":"","spans":[]}"#;
        let text = format!("{message}\n{summary}\nnot JSON");
        let (events, mut received) = tokio::sync::mpsc::unbounded_channel();

        let mut messages = Messages::default();
        messages.push(&text[..40], &events);
        messages.push(&text[40..], &events);
        messages.finish(&events);

        let expected = Event::Diagnostic {
            level: "error".into(),
            rendered: "error: no\n".into(),
            line: Some(3),
        };
        assert_eq!(received.try_recv(), Ok(expected));
        let text = "not JSON\n".into();
        assert_eq!(received.try_recv(), Ok(Event::Stderr { text }));
        assert!(received.try_recv().is_err(), "the summary is left out");
    }
}
