//! Runs the tests against every version of every exercise: the stubs fail, the
//! right ones pass, and each wrong one is caught by the test it names.

use std::future::pending;

use super::held::Held;
use super::judge::{Judge, OPTIMIZED, Part};
use super::shown::Shown;
use super::{Finding, Outcome, orders, steps};
use crate::exercises::cargo::{self, Build, Built, Target, Words};
use crate::exercises::catalogue::{Checker, Exercise};
use crate::problem::Problem;
use crate::workshop::Workshop;

/// Which versions are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The exercises as the reader finds them.
    Stubs,
    /// The solutions.
    Solutions,
    /// The other right versions.
    Alternatives,
    /// The versions that have come as far as a milestone.
    Milestones,
    /// The wrong versions.
    Counterexamples,
    /// All versions again, explored by loom or tried by shuttle.
    Models,
}

impl Subject {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Stubs,
        Self::Solutions,
        Self::Alternatives,
        Self::Milestones,
        Self::Counterexamples,
        Self::Models,
    ];

    /// The name of its step.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stubs => "stubs",
            Self::Solutions => "solutions",
            Self::Alternatives => "alternatives",
            Self::Milestones => "milestones",
            Self::Counterexamples => "counterexamples",
            Self::Models => "models",
        }
    }
}

/// The test binaries of all versions.
pub struct Binaries {
    exercises: Vec<Exercise>,
    tests: Built,
    /// Over the primitives of either checker.
    models: Vec<(Checker, Built)>,
}

/// Builds all versions of the exercises. The compiler must have nothing to say.
///
/// # Errors
///
/// When cargo can't be run.
pub async fn build(
    workshop: &Workshop,
    exercises: Vec<Exercise>,
    on_progress: impl Fn(&str),
) -> Result<(Binaries, Outcome), Problem> {
    let mut outcome = Outcome::default();
    let tests = build_part(workshop, &exercises, None, &mut outcome, &on_progress).await?;
    let mut models = Vec::new();
    for checker in Checker::ALL {
        let modeled = with_models(&exercises, checker);
        if !modeled.is_empty() {
            let checker = Some(checker);
            let built = build_part(workshop, &modeled, checker, &mut outcome, &on_progress);
            models.push(built.await?);
        } else {
            models.push(Built::default());
        }
    }
    let models = Checker::ALL.into_iter().zip(models).collect::<Vec<_>>();
    let model_count: usize = models.iter().map(|(_, built)| built.binaries.len()).sum();
    outcome.summary = format!("{} test binaries", tests.binaries.len() + model_count);
    let binaries = Binaries {
        exercises,
        tests,
        models,
    };
    Ok((binaries, outcome))
}

/// Builds the versions' tests, or their models over the primitives of `checker`.
async fn build_part(
    workshop: &Workshop,
    exercises: &[Exercise],
    checker: Option<Checker>,
    outcome: &mut Outcome,
    on_progress: &impl Fn(&str),
) -> Result<Built, Problem> {
    let pair = |exercise: &Exercise| [exercise.package(), format!("solution-{}", exercise.number)];
    let mut packages: Vec<String> = exercises.iter().flat_map(pair).collect();
    packages.extend(["alternatives", "counterexamples"].map(str::to_owned));
    let is_stepped = |one: &Exercise| !one.milestones().is_empty();
    if checker.is_none() && exercises.iter().any(is_stepped) {
        packages.push(steps::PACKAGE.to_owned());
    }
    if checker.is_none() && exercises.iter().any(|one| has_optimized(workshop, one)) {
        packages.push(OPTIMIZED.to_owned());
    }
    let features = checker.map(|checker| {
        let feature = |package| format!("{package}/{}", checker.feature());
        packages.iter().map(feature).collect()
    });
    // The wrong versions of each exercise are a program of their own.
    let programs = exercises
        .iter()
        .map(|one| format!("exercise_{}", one.number));
    let build = Build {
        features: features.unwrap_or_default(),
        packages,
        target: Target::TestsAnd(programs.collect()),
        ..Build::default()
    };
    build_one(workshop, &build, outcome, on_progress).await
}

/// Whether the exercise has wrong versions that are right until they are optimized.
fn has_optimized(workshop: &Workshop, exercise: &Exercise) -> bool {
    let file = format!(
        "counterexamples/optimized/src/exercise_{}.rs",
        exercise.number
    );
    workshop.root().join(file).exists()
}

fn with_models(exercises: &[Exercise], checker: Checker) -> Vec<Exercise> {
    let exercises = exercises.iter();
    exercises
        .filter(|one| !one.models_for(checker).is_empty())
        .cloned()
        .collect()
}

async fn build_one(
    workshop: &Workshop,
    build: &Build,
    outcome: &mut Outcome,
    on_progress: &impl Fn(&str),
) -> Result<Built, Problem> {
    let mut cargos_words = String::new();
    let on_words = |words| match words {
        Words::Cargo(text) => {
            let line = text.trim().lines().last().unwrap_or_default().trim();
            let short: String = line.chars().take(50).collect();
            on_progress(&short);
            cargos_words += &text;
        }
        Words::Compiler(diagnostic) => {
            let place = match diagnostic.place {
                Some((file, line)) => format!("{file}:{line}"),
                None => diagnostic.package.clone(),
            };
            let package = diagnostic.package;
            let fault = format!(
                "the compiler says {}: {}",
                diagnostic.level, diagnostic.summary
            );
            let remedy = format!("fix it: `cargo test --no-run -p {package}` says more");
            outcome.findings.push(Finding::new(place, fault, remedy));
        }
    };
    let built = cargo::build(workshop, build, on_words, pending()).await?;
    if !built.success && outcome.findings.is_empty() {
        let words = cargos_words.trim();
        let fault = format!("cargo cannot build the tests: {words}");
        outcome
            .findings
            .push(Finding::new("Cargo.toml", fault, "fix what cargo names"));
    }
    Ok(built)
}

impl Binaries {
    /// Compares the orders in which wrong versions fail with what their headers say.
    pub async fn verify_orders(&self, workshop: &Workshop, on_progress: impl Fn(&str)) -> Outcome {
        orders::verify(workshop, &self.exercises, &self.models, on_progress).await
    }

    /// Runs one kind of versions, but for what has held before, and judges how they
    /// fare.
    ///
    /// # Errors
    ///
    /// When a binary can't be run.
    pub async fn verify(
        &self,
        workshop: &Workshop,
        subject: Subject,
        held: &Held,
        on_progress: impl Fn(&str),
    ) -> Result<Outcome, Problem> {
        let mut judge = Judge {
            workshop,
            outcome: Outcome::default(),
            run_count: 0,
            held_count: 0,
            held,
            entries: Vec::new(),
            shown: Shown::default(),
            part: Part::Tests,
        };
        let exercises = &self.exercises;
        match subject {
            Subject::Stubs => judge.stubs(exercises, &self.tests, &on_progress).await?,
            Subject::Solutions => {
                judge
                    .solutions(exercises, &self.tests, &on_progress)
                    .await?
            }
            Subject::Alternatives => {
                judge
                    .alternatives(exercises, &self.tests, &on_progress)
                    .await?
            }
            Subject::Milestones => {
                judge
                    .milestones(exercises, &self.tests, &on_progress)
                    .await?;
            }
            Subject::Counterexamples => {
                judge
                    .counterexamples(exercises, &self.tests, &on_progress)
                    .await?;
            }
            Subject::Models => self.explore(&mut judge, &on_progress).await?,
        }
        judge.outcome.notes.extend(judge.shown.spoken());
        Held::keep(judge.entries, &judge.outcome.findings);
        judge.outcome.summary = format!("{} tests run", judge.run_count);
        if judge.held_count > 0 {
            judge.outcome.summary += &format!(", {} unchanged since they held", judge.held_count);
        }
        Ok(judge.outcome)
    }

    async fn explore(
        &self,
        judge: &mut Judge<'_>,
        on_progress: &impl Fn(&str),
    ) -> Result<(), Problem> {
        for (checker, models) in &self.models {
            let exercises = with_models(&self.exercises, *checker);
            if exercises.is_empty() {
                continue;
            }
            judge.part = Part::Models(*checker);
            judge.stubs(&exercises, models, on_progress).await?;
            judge.solutions(&exercises, models, on_progress).await?;
            judge
                .alternative_models(&exercises, models, on_progress)
                .await?;
            judge
                .counterexample_models(&exercises, models, on_progress)
                .await?;
        }
        Ok(())
    }
}
