//! Clause, test and counterexample say the same, under one name.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Finding, Outcome, relative, steps};
use crate::exercises::catalogue::{Exercise, versions};
use crate::exercises::counterexamples::{self, Counterexample};
use crate::exercises::header::Header;
use crate::exercises::hint;
use crate::exercises::source::{self, Clause, Contract, Test};
use crate::workshop::Workshop;

/// An exercise has at least so many counterexamples.
const COUNTEREXAMPLES: usize = 10;
/// An exercise has at least so many other right designs.
const ALTERNATIVES: usize = 3;

/// Checks the sources of the exercises.
pub fn verify(workshop: &Workshop, exercises: &[Exercise]) -> Outcome {
    let mut outcome = Outcome::default();
    let (mut clauses, mut tests, mut counterexamples) = (0, 0, 0);
    for exercise in exercises {
        let triad = Triad::read(workshop, exercise);
        clauses += triad.contract.clauses.len();
        tests += triad.tests.len();
        counterexamples += triad.counterexamples.len();
        outcome.findings.extend(triad.findings());
        outcome.notes.extend(triad.notes());
    }
    if exercises.is_empty() {
        let place = relative(workshop, &workshop.root().join("exercises"));
        outcome
            .findings
            .push(Finding::new(place, "there are no exercises", "add one"));
    }
    let count = exercises.len();
    outcome.summary = format!(
        "{count} exercises, {clauses} clauses, {tests} tests, {counterexamples} counterexamples"
    );
    outcome
}

/// All that is written about an exercise.
struct Triad<'a> {
    workshop: &'a Workshop,
    exercise: &'a Exercise,
    contract: Contract,
    /// The tests with their files; the models come last.
    tests: Vec<(PathBuf, Test)>,
    counterexamples: Vec<Counterexample>,
}

impl<'a> Triad<'a> {
    fn read(workshop: &'a Workshop, exercise: &'a Exercise) -> Self {
        let stub = fs::read_to_string(exercise.stub()).unwrap_or_default();
        let files = exercise.tests().into_iter().chain(exercise.models());
        let tests = files.flat_map(|file| {
            let source = fs::read_to_string(&file).unwrap_or_default();
            source::tests(&source)
                .into_iter()
                .map(move |test| (file.clone(), test))
        });
        Self {
            workshop,
            exercise,
            contract: source::contract(&stub),
            tests: tests.collect(),
            counterexamples: counterexamples::of(workshop, exercise),
        }
    }

    fn findings(&self) -> Vec<Finding> {
        [
            self.check_contract(),
            self.check_milestones(),
            self.check_solution().into_iter().collect(),
            self.check_tests(),
            self.check_counterexamples(),
            self.check_versions("alternatives", ALTERNATIVES),
            self.check_versions("counterexamples", COUNTEREXAMPLES),
            self.check_hints().into_iter().collect(),
            self.check_pristine().into_iter().collect(),
        ]
        .concat()
    }

    fn finding(&self, file: &Path, line: Option<usize>, fault: String, remedy: &str) -> Finding {
        let mut place = relative(self.workshop, file);
        if let Some(line) = line {
            place += &format!(":{line}");
        }
        Finding::new(place, fault, remedy)
    }

    fn check_contract(&self) -> Vec<Finding> {
        let stub = self.exercise.stub();
        let clauses = &self.contract.clauses;
        if clauses.is_empty() {
            let remedy = "write `# Contract` into the documentation, as `1. **Name.** Promise.`";
            return vec![self.finding(&stub, None, "the stub has no contract".into(), remedy)];
        }
        let misnumbered = clauses
            .iter()
            .zip(1..)
            .filter(|(clause, expected)| clause.number != *expected);
        let finding = |(clause, expected): (&Clause, u32)| {
            let fault = format!("clause {} should be number {expected}", clause.number);
            let remedy = "number the clauses from 1 on";
            self.finding(&stub, Some(clause.line), fault, remedy)
        };
        misnumbered.map(finding).collect()
    }

    /// Each clause belongs to one milestone, if there are some.
    fn check_milestones(&self) -> Vec<Finding> {
        let stub = self.exercise.stub();
        let source = fs::read_to_string(&stub).unwrap_or_default();
        let milestones = source::milestones(&source);
        let faults = steps::faults_of_order(&milestones, &self.contract.clauses).into_iter();
        let finding = |(number, fault)| {
            let line = milestones.iter().find(|one| one.number == number);
            let remedy = "write `1. **Name.** Clauses 1, 2 and 4 to 6: …`, each clause once";
            self.finding(&stub, line.map(|one| one.line), fault, remedy)
        };
        faults.map(finding).collect()
    }

    fn check_solution(&self) -> Option<Finding> {
        let folder = self.exercise.folder_name();
        let file = format!("solutions/{folder}/src/lib.rs");
        let file = self.workshop.root().join(file);
        let Ok(source) = fs::read_to_string(&file) else {
            return Some(self.finding(&file, None, "there is no solution".into(), "write it"));
        };
        let contract = source::contract(&source);
        let differs = self
            .contract
            .text
            .iter()
            .zip(&contract.text)
            .find(|(stub, own)| stub != own);
        let fault = match differs {
            Some((stub, own)) => {
                format!("the contract says `{own}` where the stub's says `{stub}`")
            }
            None if contract.text.len() != self.contract.text.len() => {
                "the contract is longer or shorter than the stub's".into()
            }
            None => return None,
        };
        let line = differs.and_then(|(_, own)| source.lines().position(|line| line.ends_with(own)));
        let line = line.map(|at| at + 1);
        Some(self.finding(&file, line, fault, "give both the same words"))
    }

    fn check_tests(&self) -> Vec<Finding> {
        let clauses = &self.contract.clauses;
        let wrong = self.tests.iter().filter_map(|(file, test)| {
            let (fault, remedy) = fault_of(test, clauses)?;
            Some(self.finding(file, Some(test.line), fault, remedy))
        });
        let is_checked = |clause: &&Clause| {
            let mut tests = self.tests.iter();
            tests.any(|(_, test)| test.clause() == Some(clause.number))
        };
        let unchecked = clauses.iter().filter(|clause| !is_checked(clause));
        let missing = unchecked.map(|clause| {
            let Clause { number, name, line } = clause;
            let fault = format!("no test checks clause {number}, {name}");
            let remedy = format!("write one whose comment begins `/// Clause {number}: `");
            self.finding(&self.exercise.stub(), Some(*line), fault, &remedy)
        });
        wrong.chain(missing).collect()
    }

    /// The tests' paths in the exercise.
    fn test_paths(&self) -> BTreeSet<String> {
        let models = self.exercise.models();
        let module = |file| {
            if models.contains(file) {
                "models"
            } else {
                "tests"
            }
        };
        let tests = self.tests.iter();
        tests
            .map(|(file, test)| format!("{}::{}", module(file), test.name))
            .collect()
    }

    fn check_counterexamples(&self) -> Vec<Finding> {
        let files = versions(self.workshop, "counterexamples", self.exercise).into_iter();
        let unreadable = files.filter_map(|file| {
            let (line, fault) = Header::of(&file).err()?;
            let remedy = "CONTRIBUTING.md shows the form of a header";
            Some(self.finding(&file, Some(line), fault, remedy))
        });
        let paths = self.test_paths();
        let false_claims = self
            .counterexamples
            .iter()
            .flat_map(|one| self.check_claims(one, &paths));
        unreadable
            .chain(false_claims)
            .chain(self.check_gaps())
            .collect()
    }

    fn check_claims(
        &self,
        counterexample: &Counterexample,
        paths: &BTreeSet<String>,
    ) -> Vec<Finding> {
        let Counterexample { file, header, .. } = counterexample;
        let (number, name) = (header.clause, &header.name);
        let is_it = |clause: &Clause| clause.number == number && clause.name == *name;
        let no_clause = (!self.contract.clauses.iter().any(is_it)).then(|| {
            let fault = format!("there is no clause {number}: {name}.");
            let remedy = "take number and name from the contract";
            self.finding(file, Some(1), fault, remedy)
        });
        let unknown = header.claims().filter(|claim| !paths.contains(&claim.test));
        let no_tests = unknown.map(|claim| {
            let fault = format!("there is no test `{}`", claim.test);
            let remedy = "name one of the exercise's tests";
            self.finding(file, Some(claim.line), fault, remedy)
        });
        no_clause.into_iter().chain(no_tests).collect()
    }

    /// Each clause is broken by a counterexample.
    fn check_gaps(&self) -> Vec<Finding> {
        let counterexamples = self.counterexamples.iter();
        let broken: BTreeSet<_> = counterexamples.map(|one| one.header.clause).collect();
        let clauses = self.contract.clauses.iter();
        let unbroken = clauses.filter(|clause| !broken.contains(&clause.number));
        let finding = |clause: &Clause| {
            let Clause { number, name, line } = clause;
            let fault = format!("no counterexample breaks clause {number}, {name}");
            let remedy = "write one, or drop the clause";
            self.finding(&self.exercise.stub(), Some(*line), fault, remedy)
        };
        unbroken.map(finding).collect()
    }

    /// Names the tests that no counterexample fails.
    fn notes(&self) -> Vec<String> {
        let mut unnamed = self.test_paths();
        let claims = self
            .counterexamples
            .iter()
            .flat_map(|one| one.header.claims());
        for claim in claims {
            unnamed.remove(&claim.test);
        }
        let number = self.exercise.number;
        let note = |test| format!("exercise {number}: no counterexample fails `{test}`");
        unnamed.into_iter().map(note).collect()
    }

    /// Checks that all versions in the folder are compiled, and enough.
    fn check_versions(&self, package: &str, least: usize) -> Vec<Finding> {
        let number = self.exercise.number;
        let root = self.workshop.root();
        let list = root.join(format!("{package}/src/exercise_{number}.rs"));
        let mut listed = fs::read_to_string(&list).unwrap_or_default();
        // Some are compiled by a package of their own.
        let optimized = format!("{package}/optimized/src/exercise_{number}.rs");
        listed += &fs::read_to_string(root.join(optimized)).unwrap_or_default();
        let files = versions(self.workshop, package, self.exercise);
        let is_compiled = |file: &Path| {
            // The build finds edits by itself, and the sources where it writes the list.
            let is_source = file.extension().is_some_and(|extension| extension == "rs");
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            let declared = format!("pub mod {name};");
            !is_source
                || listed.contains("OUT_DIR")
                || listed.lines().any(|line| line.trim() == declared)
        };
        let lost = files.iter().filter(|file| !is_compiled(file));
        let mut findings: Vec<_> = lost
            .map(|file| {
                let name = file.file_stem().unwrap_or_default().to_string_lossy();
                let list = relative(self.workshop, &list);
                let remedy = format!("add `pub mod {name};` to {list}");
                self.finding(file, None, "nothing compiles this file".into(), &remedy)
            })
            .collect();
        let count = files.len();
        if count < least {
            let fault = format!("there are {count} {package}, and {least} are the least");
            findings.push(self.finding(&list, None, fault, "write some more"));
        }
        findings
    }

    /// `cargo workshop reset` puts this copy in place of the reader's version.
    fn check_pristine(&self) -> Option<Finding> {
        let (stub, pristine) = (self.exercise.stub(), self.exercise.pristine());
        let is_same =
            fs::read(&stub).unwrap_or_default() == fs::read(&pristine).unwrap_or_default();
        let fault = "it is not the same as `src/lib.rs`";
        (!is_same).then(|| self.finding(&pristine, None, fault.into(), "copy the stub here"))
    }

    fn check_hints(&self) -> Option<Finding> {
        let file = self.exercise.folder.join("hints.md");
        let levels = hint::levels(&fs::read_to_string(&file).unwrap_or_default());
        let headings: Vec<_> = levels.iter().map(|level| level.heading.as_str()).collect();
        let are_three = headings == ["Concept", "Strategy", "Code"]
            && !levels.iter().any(|level| level.text.is_empty());
        let remedy = "write `# Concept`, `# Strategy` and `# Code`, and a text below each";
        let fault = "the hints are not three levels";
        (!are_three).then(|| self.finding(&file, None, fault.into(), remedy))
    }
}

/// What is wrong with a test's comment or lesson, and the remedy.
fn fault_of(test: &Test, clauses: &[Clause]) -> Option<(String, &'static str)> {
    let name = &test.name;
    let Some(number) = test.clause() else {
        let fault = format!("the comment of `{name}` names no clause");
        return Some((fault, "begin it with `/// Clause N: ` and say why"));
    };
    let Some(clause) = clauses.iter().find(|clause| clause.number == number) else {
        let fault = format!("`{name}` checks clause {number}, which the contract does not have");
        return Some((fault, "name a clause of the contract"));
    };
    let expected = format!("{number}. {}", clause.name);
    match &test.lesson {
        Some(lesson) if *lesson != expected => {
            let fault = format!(
                "the lesson of `{name}` is about `{lesson}`, its comment about `{expected}`"
            );
            Some((fault, "give both the clause that the test checks"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Clause, Test, fault_of};

    fn fault(comment: &str, lesson: &str) -> Option<String> {
        let clauses = [Clause {
            number: 1,
            name: "Prompt".into(),
            line: 1,
        }];
        let test = Test {
            name: "it_holds".into(),
            line: 1,
            comment: comment.into(),
            lesson: Some(lesson.into()),
        };
        fault_of(&test, &clauses).map(|(fault, _)| fault)
    }

    #[test]
    fn comment_and_lesson_must_name_the_same_clause_of_the_contract() {
        assert_eq!(fault("Clause 1: because.", "1. Prompt"), None);
        let no_clause = fault("Because.", "1. Prompt");
        assert!(no_clause.is_some_and(|fault| fault.contains("names no clause")));
        let no_such = fault("Clause 2: because.", "2. Idle");
        assert!(no_such.is_some_and(|fault| fault.contains("does not have")));
        let other = fault("Clause 1: because.", "1. Prompt and idle");
        assert!(other.is_some_and(|fault| fault.contains("its comment about `1. Prompt`")));
    }
}
