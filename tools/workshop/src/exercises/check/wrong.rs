//! Runs an exercise's checks on one of its wrong versions, for a page that asks what is
//! wrong with it.

use super::{
    Audience, Check, Event, Events, Exercise, Exit, MODELS_LIMIT, Outcome, Part, Problem, Reason,
    Run, TESTS_LIMIT, Workshop, cargo, harness, send, shown_first,
};
use crate::exercises::cargo::{Build, Target, Words};
use crate::exercises::catalogue::Checker;
use crate::exercises::counterexamples::{self, Counterexample};

/// The package that has the wrong versions.
const PACKAGE: &str = "counterexamples";

/// The variable by which its build script builds one version only.
const ONLY: &str = "WRONG";

/// Checks the wrong version of this name, and names its checks as the exercise does. If
/// only a model is sure to catch the version, the models are explored, too. Nothing of
/// it is remembered, and no other page hears of it.
///
/// # Errors
///
/// When there is no wrong version of exactly this name, or cargo can't be run.
pub async fn check_wrong(
    workshop: &Workshop,
    exercise: &Exercise,
    name: &str,
    events: &Events,
) -> Result<(), Problem> {
    let mut versions = counterexamples::of(workshop, exercise).into_iter();
    let wrong = versions.find(|one| one.name == name).ok_or_else(|| {
        let number = exercise.number;
        Problem::new(format!("exercise {number} has no such wrong version"))
            .help(format!("`cargo workshop wrong {number}` lists them"))
    })?;
    let mut check = Check::new(workshop, exercise, Audience::Page, events);
    let exit = check.run_wrong(&wrong).await?;
    if let Some(event) = shown_first::of_check(workshop.root(), exercise, &check.verdicts) {
        send(events, event);
    }
    send(events, Event::Exit(exit));
    Ok(())
}

impl Check<'_> {
    async fn run_wrong(&mut self, wrong: &Counterexample) -> Result<Exit, Problem> {
        self.workshop.prepare_target()?;
        let exit = self.run_part_of_wrong(wrong, Part::Tests).await?;
        let caught_by = &wrong.header.caught_by.test;
        let by_loom =
            caught_by.starts_with("models::") && !caught_by.starts_with("models::shuttle::");
        let is_caught = |name: &str| {
            let verdict = self.verdicts.get(name);
            verdict.is_some_and(|verdict| verdict.outcome == Outcome::Failed)
        };
        // On real threads only chance shows what a model is sure to find.
        let exit = match exit.reason == Reason::Exited && by_loom && !is_caught(caught_by) {
            true => {
                let models = Part::Models(Checker::Loom);
                self.run_part_of_wrong(wrong, models).await?
            }
            false => exit,
        };
        if self.verdicts.is_empty() && exit.code == Some(0) {
            let message = Some("no check runs on this version".into());
            return Ok(self.exit(Reason::Killed, None, message));
        }
        Ok(exit)
    }

    /// Builds the version, and no other, and runs its tests or its models.
    async fn run_part_of_wrong(
        &mut self,
        wrong: &Counterexample,
        part: Part,
    ) -> Result<Exit, Problem> {
        send(self.events, Event::Compiling);
        let (features, module, limit) = match part {
            Part::Tests | Part::Unasserted => (Vec::new(), "tests::", TESTS_LIMIT),
            Part::Models(checker) => {
                let feature = format!("{PACKAGE}/{}", checker.feature());
                (vec![feature], "models::", MODELS_LIMIT)
            }
        };
        let program = format!("exercise_{}", self.exercise.number);
        let prefix = format!("{program}::{}::", wrong.name);
        let build = Build {
            packages: vec![PACKAGE.into()],
            target: Target::Test(program),
            features,
            variables: vec![(ONLY.into(), wrong.name.clone())],
            ..Build::default()
        };
        let mut said = String::new();
        let on_words = |words| match words {
            Words::Cargo(text) => said.push_str(&text),
            Words::Compiler(diagnostic) if diagnostic.level == "error" => {
                said.push_str(&diagnostic.rendered);
            }
            Words::Compiler(_) => {}
        };
        let built = cargo::build(self.workshop, &build, on_words, self.events.closed()).await?;
        self.compile_time += built.time;
        let Some(binary) = built.binary(PACKAGE).filter(|_| built.success) else {
            send(self.events, Event::Stderr { text: said });
            return Ok(self.exit(Reason::CompileError, None, None));
        };
        let run = Run {
            binary,
            filters: vec![format!("{prefix}{module}")],
            threads: None,
            limit,
            patience: None,
            skip: None,
            version: None,
        };
        let on_event = |event| send(self.events, self.with_clause(without(&prefix, event)));
        let closed = || self.events.closed();
        let (ended, verdicts) = harness::run(self.workshop, &run, on_event, closed).await?;
        self.run_time += ended.time;
        let names = verdicts.into_iter();
        self.verdicts.extend(names.map(|(name, verdict)| {
            let name = name
                .strip_prefix(&prefix)
                .map(str::to_owned)
                .unwrap_or(name);
            (name, verdict)
        }));
        Ok(self.exit_of(ended))
    }
}

/// The event with the test's name as the exercise has it.
fn without(prefix: &str, mut event: Event) -> Event {
    if let Event::Test { name, .. } = &mut event
        && let Some(short) = name.strip_prefix(prefix)
    {
        *name = short.to_owned();
    }
    event
}
