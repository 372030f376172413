//! Runs the tests of versions, and judges how they fare.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::future::pending;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use futures_util::stream::{self, StreamExt};

use super::claims::{by_version, names, seen};
use super::held::{Entry, Held};
use super::shown::Shown;
use super::{Finding, Outcome, relative};
use crate::events::{Event, Outcome as TestOutcome};
use crate::exercises::cargo::{Binary, Built};
use crate::exercises::catalogue::{self, Checker, Exercise};
use crate::exercises::harness::{self, Run, Verdict, Verdicts};
use crate::exercises::source;
use crate::problem::Problem;
use crate::sandbox::Cause;
use crate::workshop::Workshop;

/// The longest that the tests of a package may take.
const LIMIT: Duration = Duration::from_secs(1200);

/// How many versions that stand together are run at once, on the threads that all those
/// have that stand apart.
const SIDE_BY_SIDE: usize = 4;

/// The package of those wrong versions that are right until they are optimized.
pub const OPTIMIZED: &str = "counterexamples-optimized";

/// Runs versions and judges them.
pub struct Judge<'a> {
    /// Where they are.
    pub workshop: &'a Workshop,
    /// What was found.
    pub outcome: Outcome,
    /// How many tests were run.
    pub run_count: usize,
    /// How many weren't, since they held before and nothing has changed.
    pub held_count: usize,
    /// The runs that are known.
    pub held: &'a Held,
    /// Those of this judge.
    pub entries: Vec<Entry>,
    /// What was shown first of wrong versions.
    pub shown: Shown,
    /// What the binaries hold.
    pub part: Part,
}

/// What a version's binary holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The tests.
    Tests,
    /// The models that are explored so.
    Models(Checker),
}

impl Part {
    /// Where they are written.
    pub fn files_of(self, exercise: &Exercise) -> Vec<PathBuf> {
        match self {
            Self::Tests => exercise.tests(),
            Self::Models(checker) => exercise.models_for(checker),
        }
    }
}

impl Judge<'_> {
    fn find(&mut self, place: &str, fault: String, remedy: &str) {
        self.outcome
            .findings
            .push(Finding::new(place, fault, remedy));
    }

    /// How the tests of a package stand whose paths contain one of the `filters`. They
    /// are run unless they held before, and nothing has changed.
    ///
    /// # Errors
    ///
    /// When the tests can't be run.
    pub async fn run(
        &mut self,
        built: &Built,
        package: &str,
        filters: &[&str],
        on_progress: &impl Fn(&str),
    ) -> Result<Option<Verdicts>, Problem> {
        self.run_unless(Held::look_up, built, package, filters, on_progress)
            .await
    }

    /// The same, but they are run in any case, and it's not kept how they stand.
    ///
    /// # Errors
    ///
    /// When the tests can't be run.
    pub async fn run_again(
        &mut self,
        built: &Built,
        package: &str,
        filters: &[&str],
        on_progress: &impl Fn(&str),
    ) -> Result<Option<Verdicts>, Problem> {
        self.run_unless(|_, _| None, built, package, filters, on_progress)
            .await
    }

    async fn run_unless(
        &mut self,
        look_up: impl Fn(&Held, &Run<'_>) -> Option<Entry>,
        built: &Built,
        package: &str,
        filters: &[&str],
        on_progress: &impl Fn(&str),
    ) -> Result<Option<Verdicts>, Problem> {
        if built.binary(package).is_none() {
            let fault = "its tests were not run, since they were not built".into();
            self.find(package, fault, "fix what the compiler names above");
            return Ok(None);
        }
        // Wrong versions mostly sleep until the kit ends them. Their models have a
        // limit on the clock, so they shouldn't be too many at once.
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let each = match self.part {
            Part::Tests => 8,
            Part::Models(_) => 4,
        };
        let is_wrong = package == "counterexamples";
        let threads = is_wrong.then_some(each * cores);
        // Many of them spin. A right version takes a fifth of a second at most.
        let patience = is_wrong.then_some(0.5);
        let filters: Vec<_> = filters.iter().map(|&filter| filter.to_owned()).collect();
        let mut verdicts = Verdicts::new();
        let done = RefCell::new(BTreeSet::new());
        let on_event = |event| {
            if let Event::Test { name, outcome, .. } = event
                && outcome.is_over()
                && done.borrow_mut().insert(name)
            {
                on_progress(&format!("{package}: {} tests done", done.borrow().len()));
            }
        };
        let optimized = is_wrong.then(|| built.binaries_of(OPTIMIZED));
        for binary in built
            .binaries_of(package)
            .chain(optimized.into_iter().flatten())
        {
            let apart = Run {
                binary,
                filters: filters.clone(),
                threads,
                limit: LIMIT,
                patience,
                // On their own they'd be their base.
                skip: is_wrong.then_some(harness::TOGETHER),
                version: None,
            };
            // Those that stand together are run side by side, each in a process of its own.
            let mut chosen = Vec::new();
            if is_wrong {
                for version in harness::versions(binary).await? {
                    if let Some(filters) = version.filters(&filters) {
                        chosen.push((version, filters));
                    }
                }
            }
            let side_by_side = chosen.len().clamp(1, SIDE_BY_SIDE);
            let together = chosen.into_iter().map(|(version, filters)| Run {
                filters,
                threads: threads.map(|count| count / side_by_side),
                skip: None,
                version: Some(version),
                ..apart.clone()
            });
            let together = together.collect();
            for (runs, at_once) in [(vec![apart], 1), (together, side_by_side)] {
                let mut unknown = Vec::new();
                for run in runs {
                    let entry = look_up(self.held, &run);
                    if let Some(known) = entry.as_ref().and_then(Entry::known) {
                        self.held_count += known.len();
                        verdicts.extend(known.clone());
                        self.entries.extend(entry);
                    } else {
                        unknown.push((run, entry));
                    }
                }
                let workshop = self.workshop;
                let each = unknown.into_iter().map(async |(run, entry)| {
                    let ended = harness::run(workshop, &run, on_event, pending::<()>).await;
                    (ended, entry)
                });
                let mut ends = stream::iter(each).buffer_unordered(at_once);
                while let Some((ended, entry)) = ends.next().await {
                    let (ended, more) = ended?;
                    self.run_count += more.len();
                    match ended.cause {
                        Cause::Exited(_) => {
                            self.entries.extend(entry.map(|it| it.with(more.clone())));
                        }
                        cause => self.tell_early_end(binary, cause, &more),
                    }
                    verdicts.extend(more);
                }
            }
        }
        Ok(Some(verdicts))
    }

    fn tell_early_end(&mut self, binary: &Binary, cause: Cause, verdicts: &Verdicts) {
        let running = |(name, verdict): (&String, &Verdict)| {
            (!verdict.outcome.is_over()).then(|| name.clone())
        };
        let names: Vec<_> = verdicts.iter().filter_map(running).collect();
        let fault = format!(
            "the tests were ended ({cause:?}) before these: {}",
            names.join(", ")
        );
        self.find(
            &binary.package,
            fault,
            "find out which test cannot be ended, and why",
        );
    }

    /// Every test must fail on a stub.
    ///
    /// # Errors
    ///
    /// When the tests can't be run.
    pub async fn stubs(
        &mut self,
        exercises: &[Exercise],
        built: &Built,
        on_progress: &impl Fn(&str),
    ) -> Result<(), Problem> {
        for exercise in exercises {
            let file = relative(self.workshop, &exercise.stub());
            let text = fs::read_to_string(exercise.stub()).unwrap_or_default();
            if !text.contains("todo!(") {
                let fault = "this is not the stub anymore: it holds no `todo!`".into();
                let remedy = format!(
                    "keep your version elsewhere and run `git checkout {file}`; this command is for authors"
                );
                self.find(&file, fault, &remedy);
                continue;
            }
            let Some(verdicts) = self
                .run(built, &exercise.package(), &[], on_progress)
                .await?
            else {
                continue;
            };
            let passed = verdicts
                .iter()
                .filter(|(_, verdict)| verdict.outcome != TestOutcome::Unwritten);
            for (test, _) in passed {
                let fault = format!("`{test}` does not reach a `todo!` of the stub");
                self.find(
                    &file,
                    fault,
                    "make the test reach the reader's code, or the stub say `todo!` there",
                );
            }
            self.check_lessons(exercise, &verdicts);
        }
        Ok(())
    }

    /// The tests' comments name the clauses that their lessons name when run.
    fn check_lessons(&mut self, exercise: &Exercise, verdicts: &Verdicts) {
        for file in exercise.tests().into_iter().chain(exercise.models()) {
            let text = fs::read_to_string(&file).unwrap_or_default();
            for test in source::tests(&text) {
                let ran = verdicts
                    .iter()
                    .find(|(path, _)| path.rsplit("::").next() == Some(&test.name));
                let number = ran.and_then(|(_, verdict)| verdict.number());
                if ran.is_some() && number != test.clause() {
                    let place = format!("{}:{}", relative(self.workshop, &file), test.line);
                    let fault = format!(
                        "the lesson of `{}` is not about the clause of its comment",
                        test.name
                    );
                    self.find(
                        &place,
                        fault,
                        "give both the clause that the test checks, through `testkit::check`",
                    );
                }
            }
        }
    }

    /// Every test must pass on a solution.
    ///
    /// # Errors
    ///
    /// When the tests can't be run.
    pub async fn solutions(
        &mut self,
        exercises: &[Exercise],
        built: &Built,
        on_progress: &impl Fn(&str),
    ) -> Result<(), Problem> {
        for exercise in exercises {
            let package = format!("solution-{}", exercise.number);
            let place = format!("solutions/{}/src/lib.rs", exercise.folder_name());
            if let Some(verdicts) = self
                .run(built, &package, &["tests::", "models::"], on_progress)
                .await?
            {
                self.must_pass(&place, &verdicts);
                let files = self.part.files_of(exercise);
                self.must_have(&place, &verdicts, &names(&files));
                if self.part != Part::Tests {
                    self.tell_explored(&package, &verdicts);
                }
            }
        }
        Ok(())
    }

    /// Notes of each model how much of it was explored: one that was cut short
    /// passes, too.
    fn tell_explored(&mut self, package: &str, verdicts: &Verdicts) {
        for (model, verdict) in verdicts {
            if verdict.outcome == TestOutcome::Passed {
                let explored = verdict.message.trim();
                let note = format!("{package}: `{model}` {explored}");
                self.outcome.notes.push(note);
            }
        }
    }

    /// Fails where a test does; but notes it where the version says that this
    /// one fails at times.
    fn must_pass(&mut self, place: &str, verdicts: &Verdicts) {
        let text = fs::read_to_string(self.workshop.root().join(place)).unwrap_or_default();
        let unsure = fails_at_times(&text);
        for (test, verdict) in verdicts {
            if verdict.outcome == TestOutcome::Passed {
                continue;
            }
            let fault = format!("`{test}` fails: {}", seen(verdict));
            if unsure
                .iter()
                .any(|name| test.rsplit("::").next() == Some(name))
            {
                self.outcome.notes.push(format!("{place}: {fault}"));
                continue;
            }
            self.find(
                place,
                fault,
                "fix the code, or the test if the contract allows what it does",
            );
        }
    }

    /// The tests of the exercise must be among those that were run.
    pub fn must_have(&mut self, place: &str, verdicts: &Verdicts, names: &[String]) {
        let run: BTreeSet<_> = verdicts
            .keys()
            .filter_map(|path| path.rsplit("::").next())
            .collect();
        let missing: Vec<_> = names
            .iter()
            .filter(|name| !run.contains(name.as_str()))
            .collect();
        if let Some(first) = missing.first() {
            let fault = format!(
                "{} tests of the exercise are not run, `{first}` for instance",
                missing.len()
            );
            self.find(
                place,
                fault,
                "reach the exercise's tests by `#[path = …] mod tests;`",
            );
        }
    }

    /// Every test must pass on another right version.
    ///
    /// # Errors
    ///
    /// When the tests can't be run.
    pub async fn alternatives(
        &mut self,
        exercises: &[Exercise],
        built: &Built,
        on_progress: &impl Fn(&str),
    ) -> Result<(), Problem> {
        let filters = filters_of(exercises);
        let filters: Vec<_> = filters.iter().map(String::as_str).collect();
        let run = self.run(built, "alternatives", &filters, on_progress);
        let Some(verdicts) = run.await? else {
            return Ok(());
        };
        let versions = by_version(verdicts);
        for exercise in exercises {
            let names = names(&exercise.tests());
            for file in catalogue::versions(self.workshop, "alternatives", exercise) {
                let name = file
                    .file_stem()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                let place = relative(self.workshop, &file);
                let none = Verdicts::new();
                let verdicts = versions.get(&(exercise.number, name)).unwrap_or(&none);
                self.must_pass(&place, verdicts);
                self.must_have(&place, verdicts, &names);
            }
        }
        Ok(())
    }

    /// Alternatives made of foreign crates have no models.
    ///
    /// # Errors
    ///
    /// When the models can't be run.
    pub async fn alternative_models(
        &mut self,
        exercises: &[Exercise],
        built: &Built,
        on_progress: &impl Fn(&str),
    ) -> Result<(), Problem> {
        let filters = filters_of(exercises);
        let filters: Vec<_> = filters.iter().map(String::as_str).collect();
        let run = self.run(built, "alternatives", &filters, on_progress);
        let verdicts = run.await?;
        for ((number, name), verdicts) in by_version(verdicts.unwrap_or_default()) {
            let place = format!("alternatives/src/exercise_{number}/{name}.rs");
            self.must_pass(&place, &verdicts);
        }
        Ok(())
    }
}

/// What the paths of the exercises' tests begin with, in a package with versions of
/// all exercises.
pub fn filters_of(exercises: &[Exercise]) -> Vec<String> {
    let numbers = exercises.iter().map(|exercise| exercise.number);
    numbers
        .map(|number| format!("exercise_{number}::"))
        .collect()
}

/// What the header of a right version says that a foreign crate does not always
/// keep.
fn fails_at_times(text: &str) -> Vec<&str> {
    let names = |line| str::strip_prefix(line, "//! Fails at times: ");
    text.lines().filter_map(names).collect()
}

#[cfg(test)]
mod tests {
    use super::fails_at_times;

    #[test]
    fn a_header_says_what_fails_at_times() {
        let text = "//! tokio's.\n//!\n//! Fails at times: a_b\n//! Fails at times: c\n\nuse x;\n";
        assert_eq!(fails_at_times(text), ["a_b", "c"]);
        assert!(fails_at_times("//! tokio's.\n").is_empty());
    }
}
