//! Checks an exercise: builds it, runs its tests, and then its models.

mod wrong;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::cargo::{self, Binary, Build, Built, Words};
use super::catalogue::{Checker, Exercise};
use super::harness::{self, MODELS_LIMIT, Run, TESTS_LIMIT, Verdicts};
use super::heard::Heard;
use super::journal::Journal;
use super::milestones;
use super::order::{self, Failed};
use super::progress::{LastCheck, Progress};
use super::routine::Routine;
use super::unseen::{self, Unseen};
use super::{asserts, shown_first, source, undeclared};
use crate::events::{Event, Events, Exit, Outcome, Reason, send};
use crate::problem::Problem;
use crate::sandbox::{Cause, Ended};
use crate::workshop::Workshop;

pub use wrong::check_wrong;

/// For whom an exercise is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// The page, unless its reader asks for the models: the tests only, since models
    /// may take minutes.
    Page,
    /// A terminal: the models too, and cargo's words while it builds.
    Terminal {
        /// Whether the compiler's messages get colors.
        colors: bool,
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
/// When cargo can't be run, for instance.
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
/// When there is no such test, or cargo can't be run.
pub async fn check_some(
    workshop: &Workshop,
    exercise: &Exercise,
    name: &str,
    audience: Audience,
    events: &Events,
) -> Result<bool, Problem> {
    let mut check = Check::new(workshop, exercise, audience, events);
    let exit = check.run_some(name).await?;
    let verdicts = check.verdicts.iter();
    let mut failed = verdicts.filter(|(_, verdict)| verdict.outcome == Outcome::Failed);
    if let Some(first) = failed.next().map(|(name, _)| name.clone()) {
        check.show_order(&first).await;
    }
    let green = exit.reason == Reason::Exited && exit.code == Some(0);
    send(events, Event::Exit(exit));
    Ok(green)
}

/// Passes the events on, and keeps them for the pages of others. Stops when the
/// receiver is gone, which ends the check.
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
    if let Some(event) = shown_first::of_check(workshop.root(), exercise, &check.verdicts) {
        send(events, event);
        if let Some(model) = check.model_to_draw() {
            check.show_order(&model).await;
        }
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
    /// What holds the models that were run.
    models: Vec<(Checker, Binary)>,
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
            models: Vec::new(),
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
            let ran = self.build_and_run(part, name).await?;
            let next = match ran {
                Ok(ended) => self.exit_of(ended),
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
        if let Some(message) = undeclared::in_exercise(self.exercise) {
            self.remember(true, &Verdicts::new(), Cause::Exited(101), None);
            return Ok(self.exit(Reason::Killed, None, Some(message)));
        }
        self.workshop.prepare_target()?;
        send(self.events, Event::Compiling);
        let heard = Heard::at_once();
        let built = self.build(Part::Tests, &heard).await?;
        self.compile_time += built.time;
        let Some(binary) = self.binary_of(&built) else {
            self.remember(false, &Verdicts::new(), Cause::Exited(101), None);
            return Ok(self.exit(Reason::CompileError, None, None));
        };
        // The source alone shows it, so the models needn't be built for it.
        let mut checkers = self.checkers();
        let unseen = unseen::in_exercise(self.exercise).filter(|_| !checkers.is_empty());
        let blind = unseen.as_ref().filter(|unseen| unseen.is_all);
        if blind.is_some() {
            checkers.clear();
        }
        let (ended, verdicts, models) = self.test_and_build_models(binary, &checkers).await?;
        self.run_time += ended.time;
        self.verdicts.extend(verdicts.clone());
        if ended.cause == Cause::Cancelled {
            return Ok(self.exit_of(ended));
        }
        // Before that, it isn't known to be solved.
        if ended.cause == Cause::Exited(0)
            && let Some(exit) = self.test_without_assertions().await?
        {
            return Ok(exit);
        }
        self.remember(true, &verdicts, ended.cause, None);
        if ended.cause == Cause::Exited(0) && verdicts.is_empty() {
            let message = Some("the exercise has no tests yet".into());
            return Ok(self.exit(Reason::Killed, None, message));
        }
        if let Some(blind) = blind.filter(|_| ended.cause == Cause::Exited(0)) {
            self.remember(true, &verdicts, ended.cause, Some(false));
            return Ok(self.exit(Reason::Killed, None, Some(blind.message.clone())));
        }
        let Some(models) = models else {
            return Ok(self.exit_of(ended));
        };
        self.compile_time += models.iter().map(|built| built.time).sum();
        self.explore(&checkers, &models, ended, verdicts, unseen)
            .await
    }

    /// What explores models of this exercise now.
    fn checkers(&self) -> Vec<Checker> {
        let has_models = |checker: &Checker| !self.exercise.models_for(*checker).is_empty();
        match self.audience {
            Audience::Page => Vec::new(),
            _ => Checker::ALL.into_iter().filter(has_models).collect(),
        }
    }

    /// Runs the tests, and builds the models meanwhile: what doesn't compile
    /// is told together with the tests. There are no models where a test fails, unless
    /// they [may tell](Self::models_may_tell) what the tests can't.
    async fn test_and_build_models(
        &self,
        binary: &Binary,
        checkers: &[Checker],
    ) -> Result<(Ended, Verdicts, Option<Vec<Built>>), Problem> {
        let heard = Heard::later();
        let is_wanted = !checkers.is_empty();
        let mut building = is_wanted.then(|| Box::pin(self.build_models(checkers, &heard)));
        let mut built = None;
        let has_failed = Notify::new();
        // A test that is run once more hasn't passed yet.
        let is_final = asserts::in_exercise(self.exercise).is_none();
        let mut passed = Vec::new();
        let on_event = |event| {
            let event = self.with_clause(event);
            if !is_final && let Some(running) = as_running(&event) {
                passed.push(event);
                return send(self.events, running);
            }
            if let Event::Test {
                name,
                outcome: Outcome::Failed | Outcome::Unwritten,
                ..
            } = &event
                && !shown_first::fails_by_chance(self.exercise.number, name)
                && self.audience != Audience::Program
            {
                has_failed.notify_one();
            }
            send(self.events, event);
        };
        let (ended, verdicts) = {
            let mut testing = pin!(self.run_binary(Part::Tests, binary, None, on_event));
            loop {
                tokio::select! {
                    tested = &mut testing => break tested?,
                    done = end_of(&mut building), if building.is_some() => {
                        building = None;
                        built = Some(done?);
                    }
                    // Cargo is ended with the build that is dropped.
                    () = has_failed.notified() => building = None,
                }
            }
        };
        if ended.cause != Cause::Exited(0) {
            passed
                .into_iter()
                .for_each(|event| send(self.events, event));
        }
        if ended.cause != Cause::Exited(0) && !self.models_may_tell(&verdicts) {
            return Ok((ended, verdicts, None));
        }
        heard.now(self.events);
        if let Some(building) = building {
            built = Some(building.await?);
        }
        Ok((ended, verdicts, built))
    }

    /// Runs the tests again as in a release build if the code does something else there.
    /// Returns how the check ends, unless they pass.
    async fn test_without_assertions(&mut self) -> Result<Option<Exit>, Problem> {
        let Some(place) = asserts::in_exercise(self.exercise) else {
            return Ok(None);
        };
        let number = self.exercise.number;
        let why = format!(
            "this is seen only without debug assertions, as in a release build: what {place} \
             does is left out there. `cargo test --release -p exercise-{number}` shows it, too"
        );
        send(self.events, Event::Compiling);
        // The compiler has said the rest before.
        let heard = Heard::later();
        let built = self.build(Part::Unasserted, &heard).await?;
        self.compile_time += built.time;
        let Some(binary) = self.binary_of(&built) else {
            heard.now(self.events);
            self.remember(false, &Verdicts::new(), Cause::Exited(101), None);
            return Ok(Some(self.exit(Reason::CompileError, None, Some(why))));
        };
        let on_event = |event| send(self.events, self.with_clause(event));
        let (ended, verdicts) = self
            .run_binary(Part::Unasserted, binary, None, on_event)
            .await?;
        self.run_time += ended.time;
        if ended.cause == Cause::Exited(0) {
            return Ok(None);
        }
        self.verdicts.extend(verdicts.clone());
        if ended.cause != Cause::Cancelled {
            self.remember(true, &verdicts, ended.cause, None);
        }
        let mut exit = self.exit_of(ended);
        exit.message.get_or_insert(why);
        Ok(Some(exit))
    }

    /// Whether the models are run although tests fail. If the reader has asked for the
    /// models, it's also enough that one may show what fails.
    fn models_may_tell(&self, verdicts: &Verdicts) -> bool {
        let number = self.exercise.number;
        shown_first::fails_only(verdicts, |name, _| {
            shown_first::fails_by_chance(number, name)
        }) || self.audience == Audience::Program
            && shown_first::models_may_show(self.exercise, verdicts)
    }

    /// Builds the models for each checker, as long as they compile.
    async fn build_models(
        &self,
        checkers: &[Checker],
        heard: &Heard,
    ) -> Result<Vec<Built>, Problem> {
        let mut all = Vec::new();
        for checker in checkers {
            heard.say(self.events, Event::Compiling);
            let built = self.build(Part::Models(*checker), heard).await?;
            let compiles = self.binary_of(&built).is_some();
            all.push(built);
            if !compiles {
                break;
            }
        }
        Ok(all)
    }

    /// Runs the models. They were built as far as they compile.
    async fn explore(
        &mut self,
        checkers: &[Checker],
        built: &[Built],
        tested: Ended,
        mut verdicts: Verdicts,
        unseen: Option<Unseen>,
    ) -> Result<Exit, Problem> {
        let tests_cause = tested.cause;
        let mut last = tested;
        for (checker, built) in checkers.iter().zip(built) {
            let Some(binary) = self.binary_of(built) else {
                self.remember(true, &verdicts, tests_cause, Some(false));
                let message = Some(MODELS_DO_NOT_COMPILE.into());
                return Ok(self.exit(Reason::CompileError, None, message));
            };
            self.models.push((*checker, binary.clone()));
            let on_event = |event| send(self.events, self.with_clause(event));
            let (ended, models) = self
                .run_binary(Part::Models(*checker), binary, None, on_event)
                .await?;
            self.run_time += ended.time;
            self.verdicts.extend(models.clone());
            last = ended;
            if ended.cause == Cause::Cancelled {
                break;
            }
            let passed = ended.cause == Cause::Exited(0) || is_only_unjudged(&ended, &models);
            if passed {
                last.cause = Cause::Exited(0);
            }
            verdicts.extend(models);
            self.remember(true, &verdicts, tests_cause, Some(passed));
            if !passed {
                break;
            }
        }
        if last.cause == Cause::Exited(0) {
            order::overcome(self.workshop, self.exercise);
        }
        if tests_cause != Cause::Exited(0) && last.cause == Cause::Exited(0) {
            return Ok(self.exit_of(tested));
        }
        let mut exit = self.exit_of(last);
        if last.cause != Cause::Exited(0) && exit.message.is_none() {
            exit.message = unseen.map(|unseen| unseen.message);
        }
        Ok(exit)
    }

    /// Builds a part, and runs those of its tests whose paths contain `name`.
    async fn build_and_run(
        &mut self,
        part: Part,
        name: &str,
    ) -> Result<Result<Ended, Exit>, Problem> {
        send(self.events, Event::Compiling);
        let built = self.build(part, &Heard::at_once()).await?;
        self.compile_time += built.time;
        let Some(binary) = self.binary_of(&built) else {
            let message = match part {
                Part::Tests | Part::Unasserted => None,
                Part::Models(_) => Some(MODELS_DO_NOT_COMPILE.into()),
            };
            return Ok(Err(self.exit(Reason::CompileError, None, message)));
        };
        if let Part::Models(checker) = part {
            self.models.push((checker, binary.clone()));
        }
        let on_event = |event| send(self.events, self.with_clause(event));
        let (ended, verdicts) = self.run_binary(part, binary, Some(name), on_event).await?;
        self.run_time += ended.time;
        self.verdicts.extend(verdicts);
        Ok(Ok(ended))
    }

    /// The failing model that tells most.
    fn model_to_draw(&self) -> Option<String> {
        let mut models = self.verdicts.clone();
        models.retain(|name, _| Checker::of_test(name).is_some());
        match shown_first::of_check(self.workshop.root(), self.exercise, &models)? {
            Event::Telling { first, .. } => Some(first),
            _ => None,
        }
    }

    /// Shows in which order a test fails, if it's a model.
    async fn show_order(&self, test: &str) {
        let Some(checker) = Checker::of_test(test) else {
            return;
        };
        let mut models = self.models.iter();
        let Some((_, binary)) = models.find(|(of_binary, _)| *of_binary == checker) else {
            return;
        };
        let failed = Failed {
            binary,
            model: test,
            execution: self.verdicts.get(test).and_then(|it| it.cause.execution),
        };
        let closed = self.events.closed();
        let recorded = order::record(self.workshop, self.exercise, failed, closed).await;
        if let Some(kept) = recorded {
            order::keep(self.workshop, self.exercise, &kept);
            let (document, whole) = kept.for_page();
            send(self.events, Event::Order { document, whole });
        }
    }

    fn binary_of<'b>(&self, built: &'b Built) -> Option<&'b Binary> {
        let package = self.exercise.package();
        built.binary(&package).filter(|_| built.success)
    }

    async fn run_binary(
        &self,
        part: Part,
        binary: &Binary,
        only: Option<&str>,
        on_event: impl FnMut(Event),
    ) -> Result<(Ended, Verdicts), Problem> {
        let run = Run {
            binary,
            filters: only.map_or_else(|| part.filters(), |name| vec![name.to_owned()]),
            threads: None,
            limit: part.limit(),
            patience: None,
            skip: None,
            version: None,
        };
        harness::run(self.workshop, &run, on_event, || self.events.closed()).await
    }

    async fn build(&self, part: Part, heard: &Heard) -> Result<Built, Problem> {
        let package = self.exercise.package();
        let without_assertions = matches!(part, Part::Unasserted).then(|| package.clone());
        let features = match part {
            Part::Tests | Part::Unasserted => Vec::new(),
            Part::Models(checker) => vec![format!("{package}/{}", checker.feature())],
        };
        let (colors, columns) = match self.audience {
            Audience::Terminal { colors, columns } => (colors, columns),
            Audience::Page | Audience::Program => (false, None),
        };
        let build = Build {
            packages: vec![package],
            features,
            without_assertions,
            colors,
            columns,
            ..Build::default()
        };
        let live = matches!(self.audience, Audience::Terminal { .. });
        let mut held_back = String::new();
        let mut routine = Routine::default();
        let mut compiler_spoke = false;
        let mut foreign_crates_are_told = false;
        let on_words = |words| match words {
            Words::Cargo(text) => {
                held_back.push_str(&text);
                let text = routine.take(&text);
                if live && heard.is_now() && !text.is_empty() {
                    send(self.events, Event::Stderr { text });
                }
                // Cargo writes a line in pieces; this goes between two lines.
                if matches!(part, Part::Models(_))
                    && !foreign_crates_are_told
                    && held_back.ends_with('\n')
                    && builds_crates(&held_back)
                {
                    foreign_crates_are_told = true;
                    heard.say(
                        self.events,
                        Event::Stderr {
                            text: CHECKER_IS_BUILT.into(),
                        },
                    );
                }
            }
            Words::Compiler(diagnostic) => {
                compiler_spoke |= diagnostic.level == "error";
                let event = Event::Diagnostic {
                    level: diagnostic.level,
                    rendered: diagnostic.rendered,
                    line: diagnostic.place.and_then(|place| self.line_of_stub(place)),
                };
                heard.say(self.events, event);
            }
        };
        let built = cargo::build(self.workshop, &build, on_words, self.events.closed()).await?;
        let is_live = live && heard.is_now();
        let text = routine.end();
        if is_live && !text.is_empty() {
            send(self.events, Event::Stderr { text });
        }
        let is_told = compiler_spoke || is_live;
        if !built.success && !is_told {
            // Cargo failed before the compiler began: without the network, say.
            heard.say(self.events, Event::Stderr { text: held_back });
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
        // A check whose result can't be kept is still a check.
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

/// Whether the models have failed only where no model can judge the code.
fn is_only_unjudged(ended: &Ended, models: &Verdicts) -> bool {
    let outcomes = || models.values().map(|model| model.outcome);
    let is_harmless = |one| matches!(one, Outcome::Passed | Outcome::Unjudged | Outcome::Ignored);
    matches!(ended.cause, Cause::Exited(_))
        && outcomes().any(|one| one == Outcome::Unjudged)
        && outcomes().all(is_harmless)
}

/// The event of a test that has passed, as if it were still running.
fn as_running(event: &Event) -> Option<Event> {
    let mut event = event.clone();
    match &mut event {
        Event::Test { outcome, .. } if *outcome == Outcome::Passed => *outcome = Outcome::Running,
        _ => return None,
    }
    Some(event)
}

/// The end of a future that is there.
async fn end_of<F: Future + Unpin>(future: &mut Option<F>) -> F::Output {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

/// What is said where the tests pass and the models' features don't compile.
const MODELS_DO_NOT_COMPILE: &str = "the *models* don't compile: a model checker \
    can't carry all of std";

/// What is said before the first models are built.
const CHECKER_IS_BUILT: &str = "The model checker is compiled once: that takes a minute or less.\n";

/// Whether cargo says that it compiles a crate that isn't of this workspace:
/// it names no folder then.
fn builds_crates(words: &str) -> bool {
    let mut lines = words.split(['\n', '\r']);
    lines.any(|line| line.contains("Compiling ") && line.contains(" v") && !line.contains('('))
}

/// What is built and run at a time.
#[derive(Clone, Copy)]
enum Part {
    Tests,
    /// The tests as in a release build, without debug assertions.
    Unasserted,
    Models(Checker),
}

impl Part {
    fn filters(self) -> Vec<String> {
        match self {
            Self::Tests | Self::Unasserted => Vec::new(),
            Self::Models(_) => vec!["models::".into()],
        }
    }

    fn limit(self) -> Duration {
        match self {
            Self::Tests | Self::Unasserted => TESTS_LIMIT,
            Self::Models(_) => MODELS_LIMIT,
        }
    }
}
