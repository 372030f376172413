//! What a run, a check or the server tells the page: one JSON object a line.

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use crate::exercises::order::document::Document;
use crate::figures::Figure;

/// Where events go. Its receiver is dropped when the client goes away, which
/// [`UnboundedSender::closed`](mpsc::UnboundedSender::closed) reports; the
/// work that the events are about must then be ended.
pub type Events = mpsc::UnboundedSender<Event>;

/// One event. On the wire the field `type` has the variant's name in kebab
/// case, for instance `{"type":"book-error","message":"…"}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Event {
    /// The run waits for others to end; the first in line has position 1.
    Queued {
        /// The place in the line.
        position: usize,
    },
    /// The crates that the snippets use are being built.
    Building {
        /// Crates built so far.
        done: usize,
        /// Crates to build in all, as far as is known.
        total: usize,
    },
    /// The compiler has started.
    Compiling,
    /// The compiler's words.
    Diagnostic {
        /// `error`, `warning`, `note` or `help`.
        level: String,
        /// The whole message as rustc prints it, without colors.
        rendered: String,
        /// The line of the code that it speaks of, counted from 1.
        line: Option<u32>,
    },
    /// The program wrote to its standard output.
    Stdout {
        /// What it wrote, in pieces of any size.
        text: String,
    },
    /// The program wrote to its standard error.
    Stderr {
        /// What it wrote, in pieces of any size.
        text: String,
    },
    /// A test started or ended. A later event for the same name replaces an
    /// earlier one.
    Test {
        /// The test's path within its crate.
        name: String,
        /// The number of the clause of the contract that it checks.
        clause: Option<u32>,
        /// How it stands.
        outcome: Outcome,
        /// Why it failed.
        message: Option<String>,
    },
    /// Which failure to read first, and what to say of the others. Follows the
    /// tests, if one has failed.
    Telling {
        /// The path of the test that tells most.
        first: String,
        /// Its message, with the advice that fits what was seen.
        message: String,
        /// A line for each of the others, the more telling first.
        others: Vec<FailureLine>,
        /// Whether the models, which haven't run, may show the order of steps in which it fails.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        models_may_show: bool,
    },
    /// The order of steps in which a model fails. Follows the telling of that model.
    Order {
        /// The steps that matter, as the page's figures have them.
        document: Box<Document>,
        /// Every step, if there are more, and a page can draw them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        whole: Option<Box<Document>>,
    },
    /// The program has left data for a figure.
    Figure(Figure),
    /// The run is over; nothing follows.
    Exit(Exit),
    /// All that follows is about this exercise: only `cargo workshop check
    /// --all --format json` speaks of several.
    Exercise {
        /// The exercise.
        number: u32,
    },
    /// The book was rebuilt: the page should be loaded again.
    Reload,
    /// The file of an exercise isn't what it was.
    ExerciseFile {
        /// The exercise.
        number: u32,
        /// What tells versions of the file apart; nothing if it is gone.
        hash: Option<String>,
    },
    /// What is remembered of the exercises has changed.
    Progress,
    /// News of a check that may have been started in a terminal, or on another page.
    Elsewhere {
        /// The exercise.
        number: u32,
        /// The check's name: each has another.
        run: String,
        /// The news.
        event: Box<Event>,
    },
    /// The book has a fault; without `message` the last one is fixed.
    BookError {
        /// mdBook's own words, or ours about a missing include.
        message: Option<String>,
    },
}

/// A failure in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureLine {
    /// The test's path.
    pub name: String,
    /// What was seen, in a few words.
    pub line: String,
    /// Returns `true` if another has told the same.
    pub is_repeated: bool,
}

/// How a test stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It is one of those to be run.
    Waiting,
    /// It has started, or is about to.
    Running,
    /// It passed.
    Passed,
    /// It failed; the message says why.
    Failed,
    /// It reached a `todo!`: what it checks isn't written yet.
    Unwritten,
    /// It is a model that can't judge the code, which does something else each time
    /// it runs; the message says so.
    Unjudged,
    /// It is marked `#[ignore]`.
    Ignored,
}

impl Outcome {
    /// Returns `true` if nothing more is to be expected of the test.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Waiting | Self::Running)
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exit {
    /// What ended it.
    pub reason: Reason,
    /// The exit status, or the number of the signal for [`Reason::Signal`].
    pub code: Option<i32>,
    /// How long the compiler took, in milliseconds.
    pub compile_ms: Option<u64>,
    /// How long the program ran, in milliseconds.
    pub run_ms: Option<u64>,
    /// One sentence about a limit that was reached.
    pub message: Option<String>,
}

/// What ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The program returned or called `exit`.
    Exited,
    /// A signal ended the program, `SIGABRT` of an abort for instance.
    Signal,
    /// It ran, or compiled, longer than it may.
    Timeout,
    /// It wrote more than it may.
    OutputLimit,
    /// The code doesn't compile.
    CompileError,
    /// The runner ended it, for the reason that the message gives.
    Killed,
}

/// Sends an event. A client that went away is noticed elsewhere, by
/// [`UnboundedSender::closed`](mpsc::UnboundedSender::closed).
pub fn send(events: &Events, event: Event) {
    let _gone = events.send(event);
}
