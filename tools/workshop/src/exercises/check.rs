//! Checks an exercise: builds it, runs its tests, and then its models.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::cargo::{self, Build, Built, Words};
use super::catalogue::{Checker, Exercise};
use super::harness::{self, MODELS_LIMIT, Run, TESTS_LIMIT, Verdicts};
use super::journal::Journal;
use super::milestones;
use super::progress::{LastCheck, Progress};
use super::{source, telling};
use crate::contain::{Cause, Ended};
use crate::events::{Event, Events, Exit, Reason, send};
use crate::problem::Problem;
use crate::workshop::Workshop;

/// For whom an exercise is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// The page: the tests only, since models may take minutes.
    Page,
    /// A terminal: the models too, and cargo's words while it builds.
    Terminal {
        /// Whether the compiler's messages get colours.
        colours: bool,
        /// The width of the terminal, if it can show how far a build is.
        columns: Option<u16>,
    },
    /// A program that reads the page's events: the models too.
    Program,
}

/// Checks the exercise. The last event is [`Event::Exit`]. Everything that was
/// started is ended when the receiver of `events` is dropped. Returns `true` if
/// all is green.
///
/// # Errors
///
/// When cargo cannot be run, for instance.
pub async fn check(
    workshop: &Workshop,
    exercise: &Exercise,
    audience: Audience,
    events: &Events,
) -> Result<bool, Problem> {
    let (inner, inbox) = unbounded_channel();
    let checking = async move { run(workshop, exercise, audience, &inner).await };
    let keeping = keep(Journal::begin(workshop, exercise), inbox, events);
    tokio::join!(checking, keeping).0
}

/// Checks only the tests and models whose paths contain `name`. Nothing of it is
/// remembered, and no page hears of it.
///
/// # Errors
///
/// When there is no such test, or cargo cannot be run.
pub async fn check_some(
    workshop: &Workshop,
    exercise: &Exercise,
    name: &str,
    audience: Audience,
    events: &Events,
) -> Result<bool, Problem> {
    let mut check = Check::new(workshop, exercise, audience, events);
    let exit = check.run_some(name).await?;
    let green = exit.reason == Reason::Exited && exit.code == Some(0);
    send(events, Event::Exit(exit));
    Ok(green)
}

/// Hands on the events, and keeps them for the pages of others. Stops when
/// nobody listens, which ends the check.
async fn keep(mut journal: Journal, mut inbox: UnboundedReceiver<Event>, events: &Events) {
    let mut is_over = false;
    loop {
        let event = tokio::select! {
            event = inbox.recv() => event,
            () = events.closed() => None,
        };
        let Some(event) = event else { break };
        // Cargo's words to a terminal are of no use elsewhere.
        if !matches!(event, Event::Stderr { .. }) {
            journal.add(&event);
        }
        is_over |= matches!(event, Event::Exit(_));
        send(events, event);
    }
    if !is_over {
        journal.add_stop();
    }
}

async fn run(
    workshop: &Workshop,
    exercise: &Exercise,
    audience: Audience,
    events: &Events,
) -> Result<bool, Problem> {
    let mut check = Check::new(workshop, exercise, audience, events);
    let exit = check.run().await?;
    if let Some(event) = telling::of_check(workshop.root(), exercise, &check.verdicts) {
        send(events, event);
    }
    let green = exit.reason == Reason::Exited && exit.code == Some(0);
    send(events, Event::Exit(exit));
    Ok(green)
}

/// The clauses' numbers by the names of their tests.
fn clauses_of(exercise: &Exercise) -> BTreeMap<String, u32> {
    let files = exercise.tests().into_iter().chain(exercise.models());
    let sources = files.filter_map(|file| fs::read_to_string(file).ok());
    let tests = sources.flat_map(|source| source::tests(&source));
    tests
        .filter_map(|test| Some((test.name.clone(), test.clause()?)))
        .collect()
}

struct Check<'a> {
    workshop: &'a Workshop,
    exercise: &'a Exercise,
    audience: Audience,
    events: &'a Events,
    clauses: BTreeMap<String, u32>,
    fingerprint: String,
    /// How all tests stand that were run.
    verdicts: Verdicts,
    compile_time: Duration,
    run_time: Duration,
}

impl<'a> Check<'a> {
    fn new(
        workshop: &'a Workshop,
        exercise: &'a Exercise,
        audience: Audience,
        events: &'a Events,
    ) -> Self {
        Self {
            workshop,
            exercise,
            audience,
            events,
            clauses: clauses_of(exercise),
            fingerprint: exercise.fingerprint(),
            verdicts: Verdicts::new(),
            compile_time: Duration::ZERO,
            run_time: Duration::ZERO,
        }
    }

    async fn run_some(&mut self, name: &str) -> Result<Exit, Problem> {
        self.workshop.prepare_target()?;
        let function = name.rsplit("::").next().unwrap_or(name);
        let is_in = |files: Vec<PathBuf>| {
            let sources = files
                .iter()
                .filter_map(|file| fs::read_to_string(file).ok());
            let mut tests = sources.flat_map(|source| source::tests(&source));
            tests.any(|test| test.name.contains(function))
        };
        let of_models =
            Checker::ALL.map(|checker| (Part::Models(checker), self.exercise.models_for(checker)));
        let parts = [(Part::Tests, self.exercise.tests())]
            .into_iter()
            .chain(of_models);
        let mut parts: Vec<_> = parts.filter(|(_, files)| is_in(files.clone())).collect();
        if name.contains("models::") {
            parts.retain(|(part, _)| matches!(part, Part::Models(_)));
        }
        let mut exit = None;
        for (part, _) in parts {
            let ran = self.build_and_run(part, Some(name)).await?;
            let next = match ran {
                Ok((ended, _)) => self.exit_of(ended),
                Err(exit) => return Ok(exit),
            };
            let has_failed = exit
                .as_ref()
                .is_some_and(|exit: &Exit| exit.code != Some(0));
            if !has_failed {
                exit = Some(next);
            }
        }
        let number = self.exercise.number;
        exit.filter(|_| !self.verdicts.is_empty()).ok_or_else(|| {
            Problem::new(format!("exercise {number} has no check `{name}`")).help(format!(
                "`cargo workshop check {number}` names those that fail"
            ))
        })
    }

    async fn run(&mut self) -> Result<Exit, Problem> {
        self.workshop.prepare_target()?;
        let (ended, mut verdicts) = match self.build_and_run(Part::Tests, None).await? {
            Ok(ran) => ran,
            Err(exit) => return Ok(exit),
        };
        if ended.cause == Cause::Cancelled {
            return Ok(self.exit_of(ended));
        }
        self.remember(true, &verdicts, ended.cause, None);
        if ended.cause == Cause::Exited(0) && verdicts.is_empty() {
            let message = Some("the exercise has no tests yet".into());
            return Ok(self.exit(Reason::Killed, None, message));
        }
        let tests_cause = ended.cause;
        let mut last = ended;
        for checker in Checker::ALL {
            let is_wanted =
                self.audience != Audience::Page && !self.exercise.models_for(checker).is_empty();
            if last.cause != Cause::Exited(0) || !is_wanted {
                continue;
            }
            let (ended, models) = match self.build_and_run(Part::Models(checker), None).await? {
                Ok(ran) => ran,
                Err(exit) => return Ok(exit),
            };
            if ended.cause != Cause::Cancelled {
                let passed = ended.cause == Cause::Exited(0);
                verdicts.extend(models);
                self.remember(true, &verdicts, tests_cause, Some(passed));
            }
            last = ended;
        }
        Ok(self.exit_of(last))
    }

    async fn build_and_run(
        &mut self,
        part: Part,
        only: Option<&str>,
    ) -> Result<Result<(Ended, Verdicts), Exit>, Problem> {
        send(self.events, Event::Compiling);
        let built = self.build(part).await?;
        self.compile_time += built.time;
        let package = self.exercise.package();
        let Some(binary) = built.binary(&package).filter(|_| built.success) else {
            if only.is_none() {
                self.remember(false, &Verdicts::new(), Cause::Exited(101), None);
            }
            return Ok(Err(self.exit(Reason::CompileError, None, None)));
        };
        let run = Run {
            binary,
            filters: only.map_or_else(|| part.filters(), |name| vec![name.to_owned()]),
            threads: None,
            limit: part.limit(),
        };
        let on_event = |event| send(self.events, self.with_clause(event));
        let (ended, verdicts) =
            harness::run(self.workshop, &run, on_event, || self.events.closed()).await?;
        self.run_time += ended.time;
        self.verdicts.extend(verdicts.clone());
        Ok(Ok((ended, verdicts)))
    }

    async fn build(&self, part: Part) -> Result<Built, Problem> {
        let package = self.exercise.package();
        let features = match part {
            Part::Tests => Vec::new(),
            Part::Models(checker) => vec![format!("{package}/{}", checker.feature())],
        };
        let (colours, columns) = match self.audience {
            Audience::Terminal { colours, columns } => (colours, columns),
            Audience::Page | Audience::Program => (false, None),
        };
        let build = Build {
            packages: vec![package],
            features,
            colours,
            columns,
            ..Build::default()
        };
        let live = matches!(self.audience, Audience::Terminal { .. });
        let mut held_back = String::new();
        let mut compiler_spoke = false;
        let on_words = |words| match words {
            Words::Cargo(text) if live => send(self.events, Event::Stderr { text }),
            Words::Cargo(text) => held_back.push_str(&text),
            Words::Compiler(diagnostic) => {
                compiler_spoke |= diagnostic.level == "error";
                let event = Event::Diagnostic {
                    level: diagnostic.level,
                    rendered: diagnostic.rendered,
                    line: diagnostic.place.and_then(|place| self.line_of_stub(place)),
                };
                send(self.events, event);
            }
        };
        let built = cargo::build(self.workshop, &build, on_words, self.events.closed()).await?;
        if !built.success && !compiler_spoke && !live {
            // Cargo failed before the compiler began: without the network, say.
            send(self.events, Event::Stderr { text: held_back });
        }
        Ok(built)
    }

    /// The line, if it is one of the reader's file: pages show that one.
    fn line_of_stub(&self, (file, line): (String, u32)) -> Option<u32> {
        let is_stub = self.workshop.root().join(file) == self.exercise.stub();
        is_stub.then_some(line)
    }

    /// Adds to a test that has only just been listed the clause that it checks.
    fn with_clause(&self, mut event: Event) -> Event {
        if let Event::Test { name, clause, .. } = &mut event
            && clause.is_none()
        {
            let function = name.rsplit("::").next().unwrap_or(name);
            *clause = self.clauses.get(function).copied();
        }
        event
    }

    fn remember(&self, compiles: bool, verdicts: &Verdicts, cause: Cause, models: Option<bool>) {
        let tests = verdicts.values();
        let clauses = milestones::clauses(tests.map(|test| (test.number(), test.outcome)));
        let passed = cause == Cause::Exited(0) && !verdicts.is_empty();
        let last = LastCheck {
            compiles,
            models,
            ..LastCheck::new(self.fingerprint.clone(), passed, &clauses)
        };
        // A check whose result cannot be kept is still a check.
        let _forgotten = Progress::change(self.workshop, self.exercise.number, |memory| {
            memory.hear(last);
        });
    }

    fn exit_of(&self, ended: Ended) -> Exit {
        let why = |why: &str| Some(format!("the check was ended: it {why}"));
        let seconds = ended.time.as_secs();
        let (reason, code, message) = match ended.cause {
            Cause::Exited(code) => (Reason::Exited, Some(code), None),
            Cause::Signal(signal) => (Reason::Signal, Some(signal), None),
            Cause::Timeout => (Reason::Timeout, None, why(&format!("took {seconds} s"))),
            Cause::OutputLimit => (Reason::OutputLimit, None, why("prints without end")),
            Cause::ProcessLimit => (Reason::Killed, None, why("starts too many processes")),
            Cause::ThreadLimit => (Reason::Killed, None, why("starts too many threads")),
            Cause::MemoryLimit => (Reason::Killed, None, why("uses too much memory")),
            Cause::DiskLimit => (Reason::Killed, None, why("fills the disk")),
            Cause::Cancelled => (Reason::Killed, None, Some("stopped".into())),
        };
        self.exit(reason, code, message)
    }

    fn exit(&self, reason: Reason, code: Option<i32>, message: Option<String>) -> Exit {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Exit {
            reason,
            code,
            compile_ms: Some(milliseconds(self.compile_time)),
            run_ms: Some(milliseconds(self.run_time)).filter(|_| reason != Reason::CompileError),
            message,
        }
    }
}

/// What is built and run at a time.
#[derive(Clone, Copy)]
enum Part {
    Tests,
    Models(Checker),
}

impl Part {
    fn filters(self) -> Vec<String> {
        match self {
            Self::Tests => Vec::new(),
            Self::Models(_) => vec!["models::".into()],
        }
    }

    fn limit(self) -> Duration {
        match self {
            Self::Tests => TESTS_LIMIT,
            Self::Models(_) => MODELS_LIMIT,
        }
    }
}
