//! What a version did, beside what it was said to do.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use super::Finding;
use crate::events::Outcome as TestOutcome;
use crate::exercises::counterexamples::Counterexample;
use crate::exercises::harness::{Verdict, Verdicts};
use crate::exercises::shown_first::without_files;
use crate::exercises::source;

/// What a test did though the header says otherwise.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The test.
    pub test: String,
    /// Whether it's that a test failed which the header doesn't name.
    pub is_unnamed_failure: bool,
    /// What to tell its author.
    pub finding: Finding,
}

/// Compares what a counterexample claims with what its tests did.
pub fn faults_of(
    place: &str,
    counterexample: &Counterexample,
    verdicts: &Verdicts,
    module: &str,
) -> Vec<Fault> {
    let header = &counterexample.header;
    let mut faults = Vec::new();
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
        faults.push(Fault {
            test: caught_by.test.clone(),
            is_unnamed_failure: false,
            finding: Finding::new(place, fault, remedy),
        });
    }
    for (test, verdict) in verdicts {
        if verdict.outcome != TestOutcome::Passed && !header.allows(test) {
            let fault = format!(
                "`{test}` fails, which the header does not say: {}",
                seen(verdict)
            );
            let remedy =
                "break one clause only, or add the test under `Also fails:` if it cannot but fail";
            faults.push(Fault {
                test: test.clone(),
                is_unnamed_failure: true,
                finding: Finding::new(place, fault, remedy),
            });
        }
    }
    faults
}

/// Many wrong versions lose a race, and luck has a say in it. A fault counts if
/// it is there in more than half of the `runs`, and an unnamed failure if it is there
/// in all of them: how often a race is lost depends on the machine. The others are
/// told as notes.
pub fn decide(place: &str, runs: &[Vec<Fault>]) -> (Vec<Finding>, Vec<String>) {
    let (mut findings, mut notes) = (Vec::new(), Vec::new());
    let tests: BTreeSet<_> = runs.iter().flatten().map(|fault| &fault.test).collect();
    for test in tests {
        let with = |run: &&Vec<Fault>| run.iter().any(|fault| fault.test == *test);
        let count = runs.iter().filter(with).count();
        let first = runs.iter().flatten().find(|fault| fault.test == *test);
        match first {
            Some(fault) if counts(fault, count, runs.len()) => findings.push(fault.finding.clone()),
            Some(fault) => notes.push(format!(
                "{place}: in {count} of {} runs {}",
                runs.len(),
                fault.finding.fault
            )),
            None => {}
        }
    }
    (findings, notes)
}

/// Whether some test that the header doesn't name failed in each of the `runs`.
pub fn has_certain_unnamed(runs: &[Vec<Fault>]) -> bool {
    let Some((first, others)) = runs.split_first() else {
        return false;
    };
    let is_in = |fault: &Fault, run: &Vec<Fault>| run.iter().any(|it| it.test == fault.test);
    let unnamed = first.iter().filter(|fault| fault.is_unnamed_failure);
    let mut certain = unnamed.filter(|fault| others.iter().all(|run| is_in(fault, run)));
    certain.next().is_some()
}

fn counts(fault: &Fault, count: usize, runs: usize) -> bool {
    match fault.is_unnamed_failure {
        true => count == runs,
        false => 2 * count > runs,
    }
}

/// The names of the tests in these files.
pub fn names(files: &[PathBuf]) -> Vec<String> {
    let sources = files
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok());
    let tests = sources.flat_map(|source| source::tests(&source));
    tests.map(|test| test.name).collect()
}

/// Sorts paths such as `exercise_1::c02_busy_polls::tests::it_holds` by exercise
/// and version; `tests::it_holds` is left.
pub fn by_version(verdicts: Verdicts) -> BTreeMap<(u32, String), Verdicts> {
    let mut versions: BTreeMap<_, Verdicts> = BTreeMap::new();
    for (path, verdict) in verdicts {
        let mut parts = path.splitn(3, "::");
        let number = parts
            .next()
            .and_then(|part| part.strip_prefix("exercise_")?.parse().ok());
        if let (Some(number), Some(version), Some(test)) = (number, parts.next(), parts.next()) {
            let version = versions.entry((number, version.to_owned())).or_default();
            version.insert(without_files(test), verdict);
        }
    }
    versions
}

/// What a failed check saw, from its report.
pub fn seen(verdict: &Verdict) -> String {
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
    use super::{
        Counterexample, TestOutcome, Verdict, Verdicts, by_version, decide, faults_of,
        has_certain_unnamed, seen,
    };
    use crate::exercises::header::Header;
    use crate::exercises::shown_first::Cause;

    fn verdict(outcome: TestOutcome) -> Verdict {
        Verdict {
            clause: Some("3. No loss".into()),
            outcome,
            message: "clause 3. No loss\n\n  promised   x\n  seen       it hangs: for 1 s\n             every thread\n  usually    y\n".into(),
            cause: Cause::default(),
        }
    }

    fn faults(failing: &[&str], passing: &[&str]) -> Vec<super::Fault> {
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
        faults_of("x.rs", &counterexample, &verdicts, "tests")
    }

    fn told(failing: &[&str], passing: &[&str]) -> Vec<String> {
        let faults = faults(failing, passing);
        faults
            .into_iter()
            .map(|fault| fault.finding.fault)
            .collect()
    }

    #[test]
    fn a_claim_must_come_true_and_nothing_else_fail() {
        assert!(told(&["a"], &["b", "c"]).is_empty());
        assert!(told(&["a", "b"], &["c"]).is_empty());
        assert_eq!(told(&["b"], &["a"]), ["`tests::a` does not catch it"]);
        assert_eq!(told(&["b"], &[]), ["`tests::a` is not run on it"]);
        let other = told(&["a", "c"], &["b"]);
        assert_eq!(other.len(), 1);
        assert!(other[0].contains("`tests::c` fails"), "{other:?}");
    }

    #[test]
    fn what_most_runs_show_is_a_fault_and_the_rest_is_noted() {
        let as_claimed = faults(&["a"], &["b", "c"]);
        let missed = faults(&[], &["a", "b", "c"]);
        let one_more = faults(&["a", "c"], &["b"]);
        let (findings, notes) = decide("x.rs", &[missed.clone(), missed.clone(), one_more.clone()]);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].fault, "`tests::a` does not catch it");
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(
            notes[0].starts_with("x.rs: in 1 of 3 runs `tests::c` fails"),
            "{notes:?}"
        );
        let (findings, _) = decide(
            "x.rs",
            &[one_more.clone(), one_more.clone(), one_more.clone()],
        );
        assert_eq!(findings.len(), 1, "{findings:?}");
        let (findings, notes) = decide("x.rs", &[one_more.clone(), as_claimed, one_more]);
        assert!(
            findings.is_empty() && notes.len() == 1,
            "{findings:?} {notes:?}"
        );
        assert_eq!(decide("x.rs", &[missed]).0.len(), 1);
    }

    #[test]
    fn an_unnamed_failure_is_certain_until_it_stays_away() {
        let as_claimed = faults(&["a"], &["b", "c"]);
        let missed = faults(&[], &["a", "b", "c"]);
        let one_more = faults(&["a", "c"], &["b"]);
        assert!(has_certain_unnamed(&[one_more.clone(), one_more.clone()]));
        assert!(!has_certain_unnamed(&[one_more.clone(), as_claimed]));
        assert!(!has_certain_unnamed(&[missed.clone(), one_more]));
        assert!(!has_certain_unnamed(&[missed.clone(), missed]));
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
            "exercise_2::x::tests::ends::b",
            "tests::a",
        ];
        let verdicts = paths.map(|path| (path.to_owned(), verdict(TestOutcome::Passed)));
        let versions = by_version(verdicts.into());
        assert_eq!(versions.len(), 2);
        assert!(versions[&(1, "x".into())].contains_key("tests::a"));
        let second = &versions[&(2, "x".into())];
        assert!(second.contains_key("models::a") && second.contains_key("tests::b"));
    }
}
