//! Runs the tests against every version of every exercise: the stubs fail, the
//! right ones pass, and each wrong one is caught by the test it names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::future::pending;
use std::thread;
use std::time::Duration;

use super::triads::{self, Counterexample};
use super::{Finding, Outcome, relative};
use crate::contain::Cause;
use crate::events::{Event, Outcome as TestOutcome};
use crate::exercises::cargo::{self, Binary, Build, Built, Words};
use crate::exercises::catalogue::{self, Exercise};
use crate::exercises::harness::{self, Run, Verdict, Verdicts};
use crate::exercises::source;
use crate::problem::Problem;
use crate::workshop::Workshop;

/// The longest that the tests of a package may take.
const LIMIT: Duration = Duration::from_secs(1200);

/// Which versions are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The exercises as the reader finds them.
    Stubs,
    /// The solutions.
    Solutions,
    /// The other right versions.
    Alternatives,
    /// The wrong versions.
    Counterexamples,
    /// All versions once more, explored by loom.
    Models,
}

impl Subject {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Stubs,
        Self::Solutions,
        Self::Alternatives,
        Self::Counterexamples,
        Self::Models,
    ];

    /// The name of its step.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stubs => "stubs",
            Self::Solutions => "solutions",
            Self::Alternatives => "alternatives",
            Self::Counterexamples => "counterexamples",
            Self::Models => "models",
        }
    }
}

/// The test binaries of all versions.
pub struct Binaries {
    exercises: Vec<Exercise>,
    tests: Built,
    models: Built,
}

/// Builds all versions. The compiler must have nothing to say.
///
/// # Errors
///
/// When cargo cannot be run.
pub async fn build(
    workshop: &Workshop,
    on_progress: impl Fn(&str),
) -> Result<(Binaries, Outcome), Problem> {
    let exercises = catalogue::find_all(workshop);
    let mut outcome = Outcome::default();
    let both = ["counterexamples".to_owned(), "alternatives".to_owned()];
    let pair = |exercise: &Exercise| [exercise.package(), format!("solution-{}", exercise.number)];

    let packages = exercises
        .iter()
        .flat_map(pair)
        .chain(both.clone())
        .collect();
    let tests = Build {
        packages,
        ..Build::default()
    };
    let tests = build_one(workshop, &tests, &mut outcome, &on_progress).await?;

    let with_models = exercises
        .iter()
        .filter(|exercise| !exercise.models().is_empty());
    let packages: Vec<_> = with_models.flat_map(pair).chain(both).collect();
    let features = packages
        .iter()
        .map(|package| format!("{package}/loom"))
        .collect();
    let models = Build {
        packages,
        features,
        ..Build::default()
    };
    let models = build_one(workshop, &models, &mut outcome, &on_progress).await?;
    outcome.summary = format!(
        "{} test binaries",
        tests.binaries.len() + models.binaries.len()
    );
    let binaries = Binaries {
        exercises,
        tests,
        models,
    };
    Ok((binaries, outcome))
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
            let remedy = format!("mend it: `cargo test --no-run -p {package}` says more");
            outcome.findings.push(Finding::new(place, fault, remedy));
        }
    };
    let built = cargo::build(workshop, build, on_words, pending()).await?;
    if !built.success && outcome.findings.is_empty() {
        let words = cargos_words.trim();
        let fault = format!("cargo cannot build the tests: {words}");
        outcome
            .findings
            .push(Finding::new("Cargo.toml", fault, "mend what cargo names"));
    }
    Ok(built)
}

impl Binaries {
    /// Runs one kind of versions, and judges how they fare.
    ///
    /// # Errors
    ///
    /// When a binary cannot be run.
    pub async fn verify(
        &self,
        workshop: &Workshop,
        subject: Subject,
        on_progress: impl Fn(&str),
    ) -> Result<Outcome, Problem> {
        let mut judge = Judge {
            workshop,
            outcome: Outcome::default(),
            run_count: 0,
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
            Subject::Counterexamples => {
                judge
                    .counterexamples(exercises, &self.tests, &on_progress)
                    .await?;
            }
            Subject::Models => {
                let exercises: Vec<_> = exercises
                    .iter()
                    .filter(|one| !one.models().is_empty())
                    .cloned()
                    .collect();
                if exercises.is_empty() {
                    judge.outcome.summary = "there are none".into();
                    return Ok(judge.outcome);
                }
                judge.stubs(&exercises, &self.models, &on_progress).await?;
                judge
                    .solutions(&exercises, &self.models, &on_progress)
                    .await?;
                judge.alternative_models(&self.models, &on_progress).await?;
                judge
                    .counterexample_models(&exercises, &self.models, &on_progress)
                    .await?;
            }
        }
        judge.outcome.summary = format!("{} tests run", judge.run_count);
        Ok(judge.outcome)
    }
}

struct Judge<'a> {
    workshop: &'a Workshop,
    outcome: Outcome,
    run_count: usize,
}

impl Judge<'_> {
    fn find(&mut self, place: &str, fault: String, remedy: &str) {
        self.outcome
            .findings
            .push(Finding::new(place, fault, remedy));
    }

    /// Runs the tests of a package whose paths contain one of the `filters`.
    async fn run(
        &mut self,
        built: &Built,
        package: &str,
        filters: &[&str],
        on_progress: &impl Fn(&str),
    ) -> Result<Option<Verdicts>, Problem> {
        let Some(binary) = built.binary(package) else {
            let fault = "its tests were not run, since they were not built".into();
            self.find(package, fault, "mend what the compiler names above");
            return Ok(None);
        };
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let run = Run {
            binary,
            filters: filters.iter().map(|&filter| filter.to_owned()).collect(),
            // Wrong versions mostly sleep until the kit ends them.
            threads: (package == "counterexamples").then_some(4 * cores),
            limit: LIMIT,
        };
        let mut done = BTreeSet::new();
        let on_event = |event| {
            if let Event::Test { name, outcome, .. } = event
                && outcome != TestOutcome::Running
                && done.insert(name)
            {
                on_progress(&format!("{package}: {} tests done", done.len()));
            }
        };
        let (ended, verdicts) = harness::run(self.workshop, &run, on_event, pending::<()>).await?;
        self.run_count += verdicts.len();
        if !matches!(ended.cause, Cause::Exited(_)) {
            self.tell_early_end(binary, ended.cause, &verdicts);
        }
        Ok(Some(verdicts))
    }

    fn tell_early_end(&mut self, binary: &Binary, cause: Cause, verdicts: &Verdicts) {
        let running = |(name, verdict): (&String, &Verdict)| {
            (verdict.outcome == TestOutcome::Running).then(|| name.clone())
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

    async fn stubs(
        &mut self,
        exercises: &[Exercise],
        built: &Built,
        on_progress: &impl Fn(&str),
    ) -> Result<(), Problem> {
        for exercise in exercises {
            let file = relative(self.workshop, &exercise.stub());
            let text = fs::read_to_string(exercise.stub()).unwrap_or_default();
            if !text.contains("todo!(") {
                let fault = "this is not the stub any more: it holds no `todo!`".into();
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
                .filter(|(_, verdict)| verdict.outcome != TestOutcome::Failed);
            for (test, _) in passed {
                let fault = format!("`{test}` does not fail on the stub");
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

    async fn solutions(
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
                // The models' binaries have no tests.
                let models = verdicts.keys().any(|name| name.starts_with("models::"));
                let files = if models {
                    exercise.models()
                } else {
                    exercise.tests()
                };
                self.must_have(&place, &verdicts, &names(&files));
            }
        }
        Ok(())
    }

    fn must_pass(&mut self, place: &str, verdicts: &Verdicts) {
        for (test, verdict) in verdicts {
            if verdict.outcome != TestOutcome::Passed {
                let fault = format!("`{test}` fails: {}", seen(verdict));
                self.find(
                    place,
                    fault,
                    "mend the code, or the test if the contract allows what it does",
                );
            }
        }
    }

    /// The tests of the exercise must be among those that were run.
    fn must_have(&mut self, place: &str, verdicts: &Verdicts, names: &[String]) {
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

    async fn alternatives(
        &mut self,
        exercises: &[Exercise],
        built: &Built,
        on_progress: &impl Fn(&str),
    ) -> Result<(), Problem> {
        let Some(verdicts) = self
            .run(built, "alternatives", &["::tests::"], on_progress)
            .await?
        else {
            return Ok(());
        };
        let versions = by_version(verdicts);
        for exercise in exercises {
            let names = names(&exercise.tests());
            for file in triads::versions(self.workshop, "alternatives", exercise) {
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
    async fn alternative_models(
        &mut self,
        built: &Built,
        on_progress: &impl Fn(&str),
    ) -> Result<(), Problem> {
        let verdicts = self
            .run(built, "alternatives", &["::models::"], on_progress)
            .await?;
        for ((number, name), verdicts) in by_version(verdicts.unwrap_or_default()) {
            let place = format!("alternatives/src/exercise_{number}/{name}.rs");
            self.must_pass(&place, &verdicts);
        }
        Ok(())
    }

    async fn counterexamples(
        &mut self,
        exercises: &[Exercise],
        built: &Built,
        on_progress: &impl Fn(&str),
    ) -> Result<(), Problem> {
        let run = self.run(built, "counterexamples", &["::tests::"], on_progress);
        let Some(verdicts) = run.await? else {
            return Ok(());
        };
        let versions = by_version(verdicts);
        for exercise in exercises {
            let names = names(&exercise.tests());
            for counterexample in triads::counterexamples(self.workshop, exercise) {
                let key = (exercise.number, counterexample.name.clone());
                let verdicts = versions.get(&key).cloned().unwrap_or_default();
                let place = self.judge(&counterexample, &verdicts, "tests");
                self.must_have(&place, &verdicts, &names);
            }
        }
        Ok(())
    }

    /// Models are for what tests cannot decide: only the counterexamples that
    /// name one are explored.
    async fn counterexample_models(
        &mut self,
        exercises: &[Exercise],
        built: &Built,
        on_progress: &impl Fn(&str),
    ) -> Result<(), Problem> {
        let names_a_model = |one: &Counterexample| {
            let mut claims = one.header.claims();
            claims.any(|claim| claim.test.starts_with("models::"))
        };
        for exercise in exercises {
            let mut counterexamples = triads::counterexamples(self.workshop, exercise);
            counterexamples.retain(names_a_model);
            let number = exercise.number;
            let filter =
                |one: &Counterexample| format!("exercise_{number}::{}::models::", one.name);
            let filters: Vec<_> = counterexamples.iter().map(filter).collect();
            if filters.is_empty() {
                continue;
            }
            let filters: Vec<_> = filters.iter().map(String::as_str).collect();
            let run = self.run(built, "counterexamples", &filters, on_progress);
            let Some(verdicts) = run.await? else {
                return Ok(());
            };
            let versions = by_version(verdicts);
            for counterexample in counterexamples {
                let key = (number, counterexample.name.clone());
                let verdicts = versions.get(&key).cloned().unwrap_or_default();
                self.judge(&counterexample, &verdicts, "models");
            }
        }
        Ok(())
    }

    /// Returns the counterexample's place, for whatever else is to be said of it.
    fn judge(
        &mut self,
        counterexample: &Counterexample,
        verdicts: &Verdicts,
        module: &str,
    ) -> String {
        let place = relative(self.workshop, &counterexample.file);
        let findings = faults_of(&place, counterexample, verdicts, module);
        self.outcome.findings.extend(findings);
        place
    }
}

/// Compares what a counterexample claims with what its tests did.
fn faults_of(
    place: &str,
    counterexample: &Counterexample,
    verdicts: &Verdicts,
    module: &str,
) -> Vec<Finding> {
    let header = &counterexample.header;
    let mut findings = Vec::new();
    let caught_by = &header.caught_by;
    let is_here = caught_by.test.starts_with(&format!("{module}::"));
    let failed = |verdict: &Verdict| verdict.outcome == TestOutcome::Failed;
    if is_here && !verdicts.get(&caught_by.test).is_some_and(failed) {
        let place = format!("{place}:{}", caught_by.line);
        let fault = match verdicts.contains_key(&caught_by.test) {
            true => format!("`{}` does not catch it", caught_by.test),
            false => format!("`{}` is not run on it", caught_by.test),
        };
        let remedy = "sharpen the test, or name the one that fails";
        findings.push(Finding::new(place, fault, remedy));
    }
    for (test, verdict) in verdicts {
        if verdict.outcome != TestOutcome::Passed && !header.allows(test) {
            let fault = format!(
                "`{test}` fails, which the header does not say: {}",
                seen(verdict)
            );
            let remedy =
                "break one clause only, or add the test under `Also fails:` if it cannot but fail";
            findings.push(Finding::new(place, fault, remedy));
        }
    }
    findings
}

/// The names of the tests in these files.
fn names(files: &[std::path::PathBuf]) -> Vec<String> {
    let sources = files
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok());
    let tests = sources.flat_map(|source| source::tests(&source));
    tests.map(|test| test.name).collect()
}

/// Sorts paths such as `exercise_1::busy_polls::tests::it_holds` by exercise
/// and version; `tests::it_holds` is left.
fn by_version(verdicts: Verdicts) -> BTreeMap<(u32, String), Verdicts> {
    let mut versions: BTreeMap<_, Verdicts> = BTreeMap::new();
    for (path, verdict) in verdicts {
        let mut parts = path.splitn(3, "::");
        let number = parts
            .next()
            .and_then(|part| part.strip_prefix("exercise_")?.parse().ok());
        if let (Some(number), Some(version), Some(test)) = (number, parts.next(), parts.next()) {
            let version = versions.entry((number, version.to_owned())).or_default();
            version.insert(test.to_owned(), verdict);
        }
    }
    versions
}

/// What a failed check saw, from its report.
fn seen(verdict: &Verdict) -> String {
    let mut rows = verdict
        .message
        .lines()
        .skip_while(|line| !line.starts_with("  seen "));
    let Some(first) = rows.next() else {
        let line = verdict.message.lines().find(|line| !line.trim().is_empty());
        return line.unwrap_or("it says nothing").trim().to_owned();
    };
    let first = first.trim_start().trim_start_matches("seen").trim_start();
    let more = rows
        .take_while(|line| line.starts_with("      "))
        .map(str::trim);
    [first]
        .into_iter()
        .chain(more)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::header::Header;
    use super::{Counterexample, TestOutcome, Verdict, Verdicts, by_version, faults_of, seen};

    fn verdict(outcome: TestOutcome) -> Verdict {
        Verdict {
            clause: Some("3. No loss".into()),
            outcome,
            message: "clause 3. No loss\n\n  promised   x\n  seen       it hangs: for 1 s\n             every thread\n  usually    y\n".into(),
        }
    }

    fn faults(failing: &[&str], passing: &[&str]) -> Vec<String> {
        let source =
            "//! Breaks clause 3: No loss.\n//! Caught by: a\n//! Also fails: b\n//!\n//! Why.\n";
        let counterexample = Counterexample {
            name: "x".into(),
            file: "x.rs".into(),
            header: Header::read(source).unwrap(),
        };
        let named = |names: &[&str], outcome| {
            let pairs = names
                .iter()
                .map(move |name| (format!("tests::{name}"), verdict(outcome)));
            pairs.collect::<Verdicts>()
        };
        let mut verdicts = named(failing, TestOutcome::Failed);
        verdicts.extend(named(passing, TestOutcome::Passed));
        let findings = faults_of("x.rs", &counterexample, &verdicts, "tests");
        findings.into_iter().map(|finding| finding.fault).collect()
    }

    #[test]
    fn a_claim_must_come_true_and_nothing_else_fail() {
        assert!(faults(&["a"], &["b", "c"]).is_empty());
        assert!(faults(&["a", "b"], &["c"]).is_empty());
        assert_eq!(faults(&["b"], &["a"]), ["`tests::a` does not catch it"]);
        assert_eq!(faults(&["b"], &[]), ["`tests::a` is not run on it"]);
        let other = faults(&["a", "c"], &["b"]);
        assert_eq!(other.len(), 1);
        assert!(other[0].contains("`tests::c` fails"), "{other:?}");
    }

    #[test]
    fn what_was_seen_is_read_from_the_report() {
        assert_eq!(
            seen(&verdict(TestOutcome::Failed)),
            "it hangs: for 1 s every thread"
        );
    }

    #[test]
    fn paths_are_sorted_by_exercise_and_version() {
        let paths = [
            "exercise_1::x::tests::a",
            "exercise_2::x::models::a",
            "tests::a",
        ];
        let verdicts = paths.map(|path| (path.to_owned(), verdict(TestOutcome::Passed)));
        let versions = by_version(verdicts.into());
        assert_eq!(versions.len(), 2);
        assert!(versions[&(1, "x".into())].contains_key("tests::a"));
        assert!(versions[&(2, "x".into())].contains_key("models::a"));
    }
}
