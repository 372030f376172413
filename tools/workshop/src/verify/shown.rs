//! Whether what a reader is shown first names its cause: on every wrong version,
//! by the failures that it really has.

use super::Finding;
use super::claims::Fault;
use crate::exercises::catalogue::Exercise;
use crate::exercises::counterexamples::Counterexample;
use crate::exercises::harness::Verdicts;
use crate::exercises::shown_first::{self, Failure, Kind, Known};
use crate::workshop::Workshop;

/// How often what was shown first named the cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// The versions that were looked at.
    versions: usize,
    /// The check was the one that catches the version.
    by_catcher: usize,
    /// It was another, which the header says tells the cause, too.
    by_header: usize,
    /// It was another, and what catches the version was the second suggestion.
    by_second: usize,
    /// It wasn't any of them, but a panic or a deadlock, reported with its place.
    by_place: usize,
    /// The first by clause order would have been one of the header's.
    by_order: usize,
    /// So it would have been had nothing been known of the version itself.
    unseen: usize,
}

/// What the choice among the failures of one exercise's versions needs.
pub struct Chooser {
    number: u32,
    names: Vec<String>,
    known: Vec<Known>,
}

impl Chooser {
    /// Reads what is known of the exercise.
    pub fn new(workshop: &Workshop, exercise: &Exercise) -> Self {
        Self {
            number: exercise.number,
            names: shown_first::names(exercise),
            known: shown_first::known(workshop.root(), exercise.number),
        }
    }

    /// Judges what is shown first of a version. `module` is that of the tests
    /// which were run; where the one that catches the version isn't among
    /// them, nothing is asked of the others.
    pub fn judge(
        &self,
        place: &str,
        version: &Counterexample,
        verdicts: &Verdicts,
        module: &str,
    ) -> (Shown, Option<Fault>) {
        let failures = shown_first::failures(&self.names, verdicts);
        let is_here = version.header.caught_by.test.starts_with(module);
        let choice = shown_first::choose(&failures, self.number, &self.known);
        let (true, Some(choice)) = (is_here, choice) else {
            return (Shown::default(), None);
        };
        let first = choice.order[0];
        let others = self.known.iter().filter(|one| one.name != version.name);
        let known: Vec<_> = others.cloned().collect();
        let unseen = shown_first::choose(&failures, self.number, &known);
        let shown = Shown {
            versions: 1,
            by_order: usize::from(accepts(version, failures.first())),
            unseen: usize::from(accepts(version, unseen.map(|unseen| unseen.order[0]))),
            ..Shown::default()
        };
        let claim = shown_first::without_files(&first.name);
        if claim == version.header.caught_by.test {
            return (
                Shown {
                    by_catcher: 1,
                    ..shown
                },
                None,
            );
        }
        if version.header.accepts(&claim) {
            return (
                Shown {
                    by_header: 1,
                    ..shown
                },
                None,
            );
        }
        if matches!(first.cause.kind, Kind::Panic | Kind::Deadlock) {
            return (
                Shown {
                    by_place: 1,
                    ..shown
                },
                None,
            );
        }
        let second = choice
            .or
            .map(|(other, _)| shown_first::without_files(&other.name));
        if second.is_some_and(|second| version.header.accepts(&second)) {
            return (
                Shown {
                    by_second: 1,
                    ..shown
                },
                None,
            );
        }
        let fault = Fault {
            test: "what is shown first".into(),
            is_unnamed_failure: !version.header.allows(&claim),
            finding: Finding::new(
                place,
                format!(
                    "the reader is shown `{claim}` first, not what catches it: {}",
                    first.cause.seen
                ),
                "if its words name the cause, say so by `//! Tells:`; if not, fix the words, or what \
                 else fails",
            ),
        };
        (shown, Some(fault))
    }
}

fn accepts(version: &Counterexample, failure: Option<&Failure>) -> bool {
    failure.is_some_and(|failure| {
        let claim = shown_first::without_files(&failure.name);
        version.header.accepts(&claim) || matches!(failure.cause.kind, Kind::Panic | Kind::Deadlock)
    })
}

impl Shown {
    /// Adds what was found of another version.
    pub fn add(&mut self, other: Self) {
        self.versions += other.versions;
        self.by_catcher += other.by_catcher;
        self.by_header += other.by_header;
        self.by_second += other.by_second;
        self.by_place += other.by_place;
        self.by_order += other.by_order;
        self.unseen += other.unseen;
    }

    /// A note for the author; `None` where nothing was looked at.
    pub fn spoken(&self) -> Option<String> {
        let of = self.versions;
        if of == 0 {
            return None;
        }
        let named = self.by_catcher + self.by_header + self.by_second + self.by_place;
        let percent = |count: usize| 100 * count / of;
        Some(format!(
            "what is shown first names the cause of {named} of {of} wrong versions ({} %): for {} it is \
             what catches them, for {} what their header says tells it, too, for {} the second suggestion, \
             for {} a panic or a deadlock with its place. Without the version's own header it would be {} %, by the order of the clauses \
             {} %",
            percent(named),
            self.by_catcher,
            self.by_header,
            self.by_second,
            self.by_place,
            percent(self.unseen),
            percent(self.by_order)
        ))
    }
}
