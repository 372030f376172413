//! Whether each milestone can be reached by itself: versions of which only the
//! parts up to it are written.

use std::collections::BTreeSet;

use super::claims::{by_version, names, seen};
use super::judge::{Judge, filters_of};
use super::{Finding, relative};
use crate::events::Outcome;
use crate::exercises::cargo::Built;
use crate::exercises::catalogue::{self, Exercise};
use crate::exercises::harness::Verdicts;
use crate::exercises::milestones::{Milestone, of_clause};
use crate::exercises::source::{self, Clause};
use crate::problem::Problem;

/// The package with these versions.
pub const PACKAGE: &str = "milestones";

impl Judge<'_> {
    /// What is written of each version must pass, and nothing may fail: what
    /// belongs to a later milestone reaches a `todo!`, if it doesn't pass.
    ///
    /// # Errors
    ///
    /// When the tests can't be run.
    pub async fn milestones(
        &mut self,
        exercises: &[Exercise],
        built: &Built,
        on_progress: &impl Fn(&str),
    ) -> Result<(), Problem> {
        let stepped = exercises.iter().filter(|one| !one.milestones().is_empty());
        let stepped: Vec<_> = stepped.cloned().collect();
        if stepped.is_empty() {
            return Ok(());
        }
        let filters = filters_of(&stepped);
        let filters: Vec<_> = filters.iter().map(String::as_str).collect();
        let run = self.run(built, PACKAGE, &filters, on_progress);
        let Some(verdicts) = run.await? else {
            return Ok(());
        };
        let versions = by_version(verdicts);
        for exercise in &stepped {
            let tests = names(&exercise.tests());
            let milestones = exercise.milestones();
            // When the last one is reached, that is the solution.
            for (at, milestone) in milestones.iter().enumerate().rev().skip(1) {
                let Some((place, name)) = self.version_of(exercise, milestone) else {
                    continue;
                };
                let none = Verdicts::new();
                let key = (exercise.number, name);
                let verdicts = versions.get(&key).unwrap_or(&none);
                self.must_have(&place, verdicts, &tests);
                for fault in faults_of(&milestones, at, verdicts) {
                    let remedy = "write what the milestone needs into this version, write `todo!` \
                                  for the rest, or move the clause to another milestone";
                    let finding = Finding::new(&place, fault, remedy);
                    self.outcome.findings.push(finding);
                }
            }
        }
        Ok(())
    }

    /// The file and the name of the version in which only so much is written.
    fn version_of(
        &mut self,
        exercise: &Exercise,
        milestone: &Milestone,
    ) -> Option<(String, String)> {
        let start = format!("m{}_", milestone.number);
        let files = catalogue::versions(self.workshop, PACKAGE, exercise);
        let found = files.into_iter().find_map(|file| {
            let name = file.file_stem()?.to_str()?.to_owned();
            let is_it = name.starts_with(&start);
            is_it.then(|| (relative(self.workshop, &file), name))
        });
        if found.is_none() {
            let folder = format!("{PACKAGE}/src/exercise_{}", exercise.number);
            let fault = format!("no version shows that {} can be reached", milestone.name);
            let remedy = format!("write `{start}….rs`, with `todo!` for what comes later");
            let finding = Finding::new(folder, fault, remedy);
            self.outcome.findings.push(finding);
        }
        found
    }
}

/// What a version does that it shouldn't in which all is written that belongs to
/// the milestones up to the one `at`.
fn faults_of(milestones: &[Milestone], at: usize, verdicts: &Verdicts) -> Vec<String> {
    let mut faults = Vec::new();
    let mut begun: BTreeSet<u32> = milestones[..=at].iter().map(|one| one.number).collect();
    for (test, verdict) in verdicts {
        let milestone = verdict
            .number()
            .and_then(|clause| of_clause(milestones, clause));
        let Some(milestone) = milestone else { continue };
        let is_later = milestone.number > milestones[at].number;
        match verdict.outcome {
            Outcome::Passed => {}
            Outcome::Unwritten if is_later => {
                begun.insert(milestone.number);
            }
            _ => faults.push(format!(
                "`{test}`, of milestone {}, fails: {}",
                milestone.number,
                seen(verdict)
            )),
        }
    }
    for milestone in milestones.iter().filter(|one| !begun.contains(&one.number)) {
        let Milestone { number, name, .. } = milestone;
        faults.push(format!(
            "milestone {number}, {name}, is reached too: none of its tests reaches a `todo!`"
        ));
    }
    faults
}

/// What is wrong with the milestones of these clauses, by the milestones' numbers.
pub fn faults_of_order(milestones: &[Milestone], clauses: &[Clause]) -> Vec<(u32, String)> {
    let mut faults = Vec::new();
    for (milestone, expected) in milestones.iter().zip(1..) {
        let Milestone { number, name, .. } = milestone;
        if *number != expected {
            let fault = format!("milestone {number} should be number {expected}");
            faults.push((*number, fault));
        }
        if milestone.clauses.is_empty() {
            faults.push((
                *number,
                format!("milestone {number}, {name}, has no clauses"),
            ));
        }
        for clause in &milestone.clauses {
            if !clauses.iter().any(|one| one.number == *clause) {
                let fault = format!("milestone {number} has a clause {clause}, which there isn't");
                faults.push((*number, fault));
            }
        }
    }
    for clause in clauses.iter().filter(|_| !milestones.is_empty()) {
        let has_it = milestones
            .iter()
            .flat_map(|one| one.clauses.iter().map(move |it| (one, it)));
        let of = has_it.filter(|(_, it)| **it == clause.number);
        let of: Vec<_> = of.map(|(milestone, _)| milestone.number).collect();
        let number = clause.number;
        match of[..] {
            [_] => {}
            [] => faults.push((1, format!("clause {number} belongs to no milestone"))),
            [first, ..] => {
                let fault = format!("clause {number} belongs to {} milestones", of.len());
                faults.push((first, fault));
            }
        }
    }
    faults
}

/// Whether a row of a table has the milestone's name, and then its clauses.
pub fn has_row(chapter: &str, milestone: &Milestone) -> bool {
    let name = format!("{}. {}", milestone.number, milestone.name);
    chapter.lines().any(|line| {
        let mut cells = line.split('|').map(str::trim).skip(1);
        cells.next() == Some(&name)
            && cells.next().and_then(source::numbers_in).as_ref() == Some(&milestone.clauses)
    })
}

#[cfg(test)]
mod tests {
    use super::{Clause, Milestone, Outcome, Verdicts, faults_of, faults_of_order, has_row};
    use crate::exercises::harness::Verdict;

    fn faults(outcomes: [Outcome; 3], at: usize) -> Vec<String> {
        let milestones = [1, 2, 3].map(|number| Milestone {
            number,
            name: "One".into(),
            clauses: vec![number],
            line: 1,
        });
        let verdicts = outcomes.into_iter().zip(1..).map(|(outcome, clause)| {
            let verdict = Verdict {
                clause: Some(format!("{clause}. Name")),
                outcome,
                message: String::new(),
                cause: crate::exercises::shown_first::Cause::default(),
            };
            (format!("tests::t{clause}"), verdict)
        });
        faults_of(&milestones, at, &Verdicts::from_iter(verdicts))
    }

    #[test]
    fn each_clause_belongs_to_one_milestone() {
        let clauses = [1, 2].map(|number| Clause {
            number,
            name: "Prompt".into(),
            line: 1,
        });
        let faults = |milestones: &[(u32, &[u32])]| {
            let milestones = milestones.iter().map(|(number, clauses)| Milestone {
                number: *number,
                name: "One".into(),
                clauses: clauses.to_vec(),
                line: 1,
            });
            faults_of_order(&milestones.collect::<Vec<_>>(), &clauses).len()
        };
        assert_eq!(faults(&[]), 0, "it need not have any");
        assert_eq!(faults(&[(1, &[2]), (2, &[1])]), 0, "in any order");
        assert_eq!(faults(&[(1, &[1])]), 1, "2 is missing");
        assert_eq!(faults(&[(1, &[1, 2]), (2, &[2])]), 1, "2 is there twice");
        assert_eq!(
            faults(&[(1, &[1, 2]), (3, &[3])]),
            2,
            "of no contract, out of order"
        );
        assert_eq!(faults(&[(1, &[1, 2]), (2, &[])]), 1, "empty");
    }

    #[test]
    fn a_row_has_the_milestone_and_its_clauses() {
        let milestone = Milestone {
            number: 2,
            name: "Its end".into(),
            clauses: vec![1, 4, 5, 6],
            line: 1,
        };
        assert!(has_row("| 2. Its end | 1, 4 to 6 | Later. |", &milestone));
        for wrong in [
            "| 2. Its end | 1, 4, 5 | Later. |",
            "| 1. Its end | 1, 4 to 6 |",
            "2. Its end",
        ] {
            assert!(!has_row(wrong, &milestone), "{wrong}");
        }
    }

    #[test]
    fn what_is_written_passes_and_what_is_not_reaches_a_todo() {
        use Outcome::{Failed, Passed, Unwritten};
        assert!(faults([Passed, Unwritten, Unwritten], 0).is_empty());
        assert!(faults([Passed, Passed, Unwritten], 1).is_empty());
        let of = |outcomes, at| faults(outcomes, at).len();
        assert_eq!(of([Unwritten, Unwritten, Unwritten], 0), 1, "not written");
        assert_eq!(
            of([Passed, Failed, Unwritten], 0),
            2,
            "failed, and not begun"
        );
        assert_eq!(of([Passed, Unwritten, Passed], 0), 1, "no step of its own");
    }
}
