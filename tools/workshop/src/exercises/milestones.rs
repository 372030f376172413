//! How far an exercise is: how its clauses stand, and its milestones, which are
//! sets of clauses that can hold while later ones aren't written yet.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::events::Outcome;

/// A set of clauses, in the order in which the contract's `# Milestones` has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Milestone {
    /// Its number, from 1.
    pub number: u32,
    /// Its name, without the dot.
    pub name: String,
    /// The clauses' numbers.
    pub clauses: Vec<u32>,
    /// The line where it begins, counted from 1.
    #[serde(skip)]
    pub line: usize,
}

/// How a clause stands, by its worst test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stands {
    /// It holds.
    Held,
    /// A test reached a `todo!`.
    Unwritten,
    /// A test failed, or wasn't done.
    Failed,
}

impl From<Outcome> for Stands {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            // What a model can't judge, the tests have judged.
            Outcome::Passed | Outcome::Unjudged => Self::Held,
            Outcome::Unwritten => Self::Unwritten,
            _ => Self::Failed,
        }
    }
}

/// How the clauses stand of which there are tests.
pub fn clauses(tests: impl Iterator<Item = (Option<u32>, Outcome)>) -> BTreeMap<u32, Stands> {
    let mut clauses = BTreeMap::new();
    for (clause, outcome) in tests {
        if let Some(clause) = clause {
            let stands = clauses.entry(clause).or_insert(Stands::Held);
            *stands = (*stands).max(outcome.into());
        }
    }
    clauses
}

/// How many milestones are reached: all clauses of these hold.
pub fn reached(milestones: &[Milestone], holds: impl Fn(u32) -> bool) -> usize {
    let is_reached = |one: &&Milestone| one.clauses.iter().all(|clause| holds(*clause));
    milestones.iter().take_while(is_reached).count()
}

/// The milestone that has this clause.
pub fn of_clause(milestones: &[Milestone], clause: u32) -> Option<&Milestone> {
    milestones.iter().find(|one| one.clauses.contains(&clause))
}

#[cfg(test)]
mod tests {
    use super::{Milestone, Outcome, Stands, clauses, of_clause, reached};

    #[test]
    fn a_clause_stands_as_its_worst_test_does() {
        let tests = [
            (Some(1), Outcome::Passed),
            (Some(2), Outcome::Unwritten),
            (Some(2), Outcome::Passed),
            (Some(3), Outcome::Unwritten),
            (Some(3), Outcome::Failed),
            (None, Outcome::Failed),
        ];
        let stands = clauses(tests.into_iter());
        let expected = [
            (1, Stands::Held),
            (2, Stands::Unwritten),
            (3, Stands::Failed),
        ];
        assert_eq!(stands, expected.into());
    }

    #[test]
    fn a_milestone_is_reached_after_those_before_it() {
        let milestone = |number, clauses: &[u32]| Milestone {
            number,
            name: String::new(),
            clauses: clauses.into(),
            line: 1,
        };
        let milestones = [milestone(1, &[1, 3]), milestone(2, &[2])];
        assert_eq!(reached(&milestones, |_| true), 2);
        assert_eq!(reached(&milestones, |clause| clause != 2), 1);
        assert_eq!(reached(&milestones, |clause| clause == 2), 0);
        let of_two = of_clause(&milestones, 2).map(|one| one.number);
        assert_eq!((of_two, of_clause(&milestones, 4)), (Some(2), None));
    }
}
