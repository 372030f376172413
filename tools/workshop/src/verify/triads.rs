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
        let mut triad = Triad::read(workshop, exercise);
        triad.check();
        clauses += triad.contract.clauses.len();
        tests += triad.tests.len();
        counterexamples += triad.counterexamples.len();
        outcome.findings.extend(triad.findings);
        outcome.notes.extend(triad.notes);
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
    findings: Vec<Finding>,
    notes: Vec<String>,
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
            findings: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn check(&mut self) {
        self.check_contract();
        self.check_milestones();
        self.check_solution();
        self.check_tests();
        self.check_counterexamples();
        self.check_versions("alternatives", ALTERNATIVES);
        self.check_versions("counterexamples", COUNTEREXAMPLES);
        self.check_hints();
        self.check_pristine();
    }

    fn find(&mut self, file: &Path, line: Option<usize>, fault: String, remedy: &str) {
        let mut place = relative(self.workshop, file);
        if let Some(line) = line {
            place += &format!(":{line}");
        }
        self.findings.push(Finding::new(place, fault, remedy));
    }

    fn check_contract(&mut self) {
        let stub = self.exercise.stub();
        if self.contract.clauses.is_empty() {
            let remedy = "write `# Contract` into the documentation, as `1. **Name.** Promise.`";
            return self.find(&stub, None, "the stub has no contract".into(), remedy);
        }
        for (clause, expected) in self.contract.clauses.clone().into_iter().zip(1..) {
            if clause.number != expected {
                let fault = format!("clause {} should be number {expected}", clause.number);
                self.find(
                    &stub,
                    Some(clause.line),
                    fault,
                    "number the clauses from 1 on",
                );
            }
        }
    }

    /// Each clause belongs to one milestone, if there are some.
    fn check_milestones(&mut self) {
        let stub = self.exercise.stub();
        let source = fs::read_to_string(&stub).unwrap_or_default();
        let milestones = source::milestones(&source);
        for (number, fault) in steps::faults_of_order(&milestones, &self.contract.clauses) {
            let line = milestones.iter().find(|one| one.number == number);
            let remedy = "write `1. **Name.** Clauses 1, 2 and 4 to 6: …`, each clause once";
            self.find(&stub, line.map(|one| one.line), fault, remedy);
        }
    }

    fn check_solution(&mut self) {
        let folder = self.exercise.folder_name();
        let file = self
            .workshop
            .root()
            .join("solutions")
            .join(folder)
            .join("src/lib.rs");
        let Ok(source) = fs::read_to_string(&file) else {
            return self.find(&file, None, "there is no solution".into(), "write it");
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
            None => return,
        };
        let line = differs.and_then(|(_, own)| source.lines().position(|line| line.ends_with(own)));
        self.find(
            &file,
            line.map(|at| at + 1),
            fault,
            "give both the same words",
        );
    }

    fn check_tests(&mut self) {
        let tests = self.tests.clone();
        for (file, test) in &tests {
            if let Some((fault, remedy)) = fault_of(test, &self.contract.clauses) {
                self.find(file, Some(test.line), fault, remedy);
            }
        }
        for clause in self.contract.clauses.clone() {
            if !tests
                .iter()
                .any(|(_, test)| test.clause() == Some(clause.number))
            {
                let fault = format!("no test checks clause {}, {}", clause.number, clause.name);
                let remedy = format!(
                    "write one whose comment begins `/// Clause {}: `",
                    clause.number
                );
                self.find(&self.exercise.stub(), Some(clause.line), fault, &remedy);
            }
        }
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

    fn check_counterexamples(&mut self) {
        for file in versions(self.workshop, "counterexamples", self.exercise) {
            if let Err((line, fault)) = Header::of(&file) {
                self.find(
                    &file,
                    Some(line),
                    fault,
                    "CONTRIBUTING.md shows the form of a header",
                );
            }
        }
        let paths = self.test_paths();
        let mut unnamed = paths.clone();
        let mut broken = BTreeSet::new();
        for counterexample in std::mem::take(&mut self.counterexamples) {
            self.check_claims(&counterexample, &paths);
            for claim in counterexample.header.claims() {
                unnamed.remove(&claim.test);
            }
            broken.insert(counterexample.header.clause);
            self.counterexamples.push(counterexample);
        }
        self.report_gaps(&broken, &unnamed);
    }

    fn check_claims(&mut self, counterexample: &Counterexample, paths: &BTreeSet<String>) {
        let Counterexample { file, header, .. } = counterexample;
        let (number, name) = (header.clause, &header.name);
        let is_it = |clause: &Clause| clause.number == number && clause.name == *name;
        if !self.contract.clauses.iter().any(is_it) {
            let fault = format!("there is no clause {number}: {name}.");
            self.find(
                file,
                Some(1),
                fault,
                "take number and name from the contract",
            );
        }
        for claim in header.claims().filter(|claim| !paths.contains(&claim.test)) {
            let fault = format!("there is no test `{}`", claim.test);
            let remedy = "name one of the exercise's tests";
            self.find(file, Some(claim.line), fault, remedy);
        }
    }

    fn report_gaps(&mut self, broken: &BTreeSet<u32>, unnamed: &BTreeSet<String>) {
        for clause in self.contract.clauses.clone() {
            if !broken.contains(&clause.number) {
                let fault = format!(
                    "no counterexample breaks clause {}, {}",
                    clause.number, clause.name
                );
                self.find(
                    &self.exercise.stub(),
                    Some(clause.line),
                    fault,
                    "write one, or drop the clause",
                );
            }
        }
        let number = self.exercise.number;
        let notes = unnamed
            .iter()
            .map(|test| format!("exercise {number}: no counterexample fails `{test}`"));
        self.notes.extend(notes);
    }

    /// Checks that all versions in the folder are compiled, and enough.
    fn check_versions(&mut self, package: &str, least: usize) {
        let number = self.exercise.number;
        let list = self
            .workshop
            .root()
            .join(format!("{package}/src/exercise_{number}.rs"));
        let mut listed = fs::read_to_string(&list).unwrap_or_default();
        // Some are compiled by a package of their own.
        let optimized = format!("{package}/optimized/src/exercise_{number}.rs");
        let optimized = self.workshop.root().join(optimized);
        listed += &fs::read_to_string(optimized).unwrap_or_default();
        let files = versions(self.workshop, package, self.exercise);
        for file in &files {
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            // The build finds edits by itself, and the sources where it writes the list.
            let is_source = file.extension().is_some_and(|extension| extension == "rs");
            if is_source
                && !listed.contains("OUT_DIR")
                && !listed
                    .lines()
                    .any(|line| line.trim() == format!("pub mod {name};"))
            {
                let remedy = format!(
                    "add `pub mod {name};` to {}",
                    relative(self.workshop, &list)
                );
                self.find(file, None, "nothing compiles this file".into(), &remedy);
            }
        }
        if files.len() < least {
            let fault = format!(
                "there are {} {package}, and {least} are the least",
                files.len()
            );
            self.find(&list, None, fault, "write some more");
        }
    }

    /// `cargo workshop reset` puts this copy in place of the reader's version.
    fn check_pristine(&mut self) {
        let (stub, pristine) = (self.exercise.stub(), self.exercise.pristine());
        if fs::read(&stub).unwrap_or_default() != fs::read(&pristine).unwrap_or_default() {
            let fault = "it is not the same as `src/lib.rs`".to_owned();
            self.find(&pristine, None, fault, "copy the stub here");
        }
    }

    fn check_hints(&mut self) {
        let file = self.exercise.folder.join("hints.md");
        let levels = hint::levels(&fs::read_to_string(&file).unwrap_or_default());
        let headings: Vec<_> = levels.iter().map(|level| level.heading.as_str()).collect();
        if headings != ["Concept", "Strategy", "Code"]
            || levels.iter().any(|level| level.text.is_empty())
        {
            let fault = "the hints are not three levels".into();
            self.find(
                &file,
                None,
                fault,
                "write `# Concept`, `# Strategy` and `# Code`, and a text below each",
            );
        }
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
