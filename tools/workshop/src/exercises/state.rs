//! How the exercises stand, as far as is known without running anything.

use std::collections::BTreeMap;
use std::fs;

use serde::Serialize;

use super::catalogue::{self, Exercise};
use super::milestones::{self, Milestone};
use super::progress::{LastCheck, Progress};
use super::source;
use crate::workshop::{Workshop, files_under};

/// An exercise, as the page and `cargo workshop list` show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// Its number, from 1.
    pub number: u32,
    /// The topic: the folder's name without the number.
    pub topic: String,
    /// What the reader builds.
    pub title: String,
    /// The page with its panel, from the root of the book.
    pub page: Option<String>,
    /// How many milestones it has.
    pub milestones: usize,
    /// How it stands.
    #[serde(flatten)]
    pub state: State,
    /// Whether it is the first that isn't solved.
    pub next: bool,
}

/// How an exercise stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum State {
    /// It is still the stub, as far as can be seen.
    NotStarted,
    /// It was never checked.
    NotChecked,
    /// The sources have changed since it was last checked.
    Changed {
        /// Whether it was solved then.
        solved: bool,
    },
    /// It didn't compile.
    DoesNotCompile,
    /// Some clauses don't hold, or a model doesn't.
    Unsolved {
        /// How many clauses hold.
        held: usize,
        /// How many there are.
        clauses: usize,
        /// How many reach a `todo!`.
        unwritten: usize,
        /// How many milestones are reached.
        reached: usize,
    },
    /// Every test passes, and each model that was explored.
    Solved,
}

/// Lists all exercises.
pub fn list(workshop: &Workshop) -> Vec<Listed> {
    let progress = Progress::load(workshop);
    let pages = pages(workshop);
    let mut next_is_found = false;
    let exercises = catalogue::find_all(workshop).into_iter();
    exercises
        .map(|exercise| {
            let state = state(&exercise, progress.of(exercise.number).last.as_ref());
            let next = state != State::Solved && !next_is_found;
            next_is_found |= next;
            Listed {
                number: exercise.number,
                milestones: exercise.milestones().len(),
                title: exercise.title(),
                page: pages.get(&exercise.number).cloned(),
                topic: exercise.topic,
                state,
                next,
            }
        })
        .collect()
}

/// The pages with the panels of the exercises.
fn pages(workshop: &Workshop) -> BTreeMap<u32, String> {
    const PANEL: &str = "<div class=\"exercise\" data-exercise=\"";
    let source = workshop.root().join("src");
    let mut pages = BTreeMap::new();
    for file in files_under(&source) {
        if file.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap_or_default();
        let mut panels = text.lines().filter_map(|line| line.strip_prefix(PANEL));
        let number = panels.find_map(|rest| rest.split('"').next()?.parse().ok());
        let page = file
            .strip_prefix(&source)
            .map(|page| page.with_extension("html"));
        if let (Some(number), Ok(page)) = (number, page) {
            // In an address the parts of a path are always separated so.
            pages.insert(number, page.to_string_lossy().replace('\\', "/"));
        }
    }
    pages
}

/// The first exercise that isn't solved.
pub fn next(workshop: &Workshop) -> Option<Exercise> {
    let next = list(workshop).into_iter().find(|exercise| exercise.next)?;
    catalogue::find(workshop, next.number).ok()
}

fn state(exercise: &Exercise, last: Option<&LastCheck>) -> State {
    let stub = fs::read_to_string(exercise.stub()).unwrap_or_default();
    let clauses = source::contract(&stub).clauses.len();
    match last {
        Some(last) if last.fingerprint == exercise.fingerprint() => {
            known(last, clauses, &exercise.milestones())
        }
        Some(last) => State::Changed {
            solved: known(last, clauses, &[]) == State::Solved,
        },
        None if stub.contains("todo!(") => State::NotStarted,
        None => State::NotChecked,
    }
}

fn known(last: &LastCheck, clauses: usize, milestones: &[Milestone]) -> State {
    if !last.compiles {
        return State::DoesNotCompile;
    }
    if last.passed && last.models != Some(false) {
        return State::Solved;
    }
    State::Unsolved {
        held: last.held(),
        clauses: clauses.max(last.clauses.len()),
        unwritten: last.unwritten.len(),
        reached: milestones::reached(milestones, |clause| last.holds(clause)),
    }
}

/// The list for people.
pub fn table(list: &[Listed]) -> String {
    let widths = list.iter().map(|one| one.title.chars().count());
    let width = widths.max().unwrap_or(0);
    let mut text = String::new();
    for one in list {
        let mark = match one.state {
            State::Solved => '✓',
            State::Changed { solved: true } => '~',
            _ => '·',
        };
        let (number, title) = (one.number, &one.title);
        let state = one.state.spoken(one.milestones);
        text += &format!("  {mark} {number:>2}  {title:<width$}  {state}\n");
    }
    match list.iter().find(|one| one.next) {
        Some(next) => {
            let (number, topic) = (next.number, &next.topic);
            text += &format!(
                "\nNext: exercise {number}, in `exercises/{number:02}-{topic}/src/lib.rs`. \
                 `cargo workshop check {number}` checks it.\n"
            );
        }
        None => text += "\nAll are solved.\n",
    }
    text
}

impl State {
    fn spoken(&self, milestones: usize) -> String {
        match self {
            Self::NotStarted => "not started".into(),
            Self::NotChecked => "not checked yet".into(),
            Self::Changed { solved: true } => "solved, but changed since its last check".into(),
            Self::Changed { solved: false } => "changed since its last check".into(),
            Self::DoesNotCompile => "does not compile".into(),
            Self::Unsolved { held, clauses, .. } if held == clauses => {
                "every clause holds when tested, but a model fails".into()
            }
            Self::Unsolved {
                held,
                clauses,
                unwritten,
                reached,
            } => {
                let milestones = match milestones {
                    0 => String::new(),
                    of => format!("{reached} of {of} milestones: "),
                };
                let unwritten = match unwritten {
                    0 => String::new(),
                    some => format!(", {some} not written yet"),
                };
                format!("{milestones}{held} of {clauses} clauses hold{unwritten}")
            }
            Self::Solved => "solved".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Exercise, LastCheck, Listed, State, state, table};

    #[test]
    fn the_state_follows_the_sources_and_the_last_check() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("src")).unwrap();
        let exercise = Exercise {
            number: 1,
            topic: "x".into(),
            folder: root.path().into(),
        };
        fs::write(exercise.stub(), "fn x() { todo!(\"write it\") }").unwrap();
        assert_eq!(state(&exercise, None), State::NotStarted);
        fs::write(exercise.stub(), "fn x() {}").unwrap();
        assert_eq!(state(&exercise, None), State::NotChecked);

        let mut last = LastCheck {
            fingerprint: exercise.fingerprint(),
            compiles: true,
            passed: false,
            clauses: [(1, true), (2, false)].into(),
            unwritten: [2].into(),
            models: None,
        };
        let unsolved = State::Unsolved {
            held: 1,
            clauses: 2,
            unwritten: 1,
            reached: 0,
        };
        assert_eq!(state(&exercise, Some(&last)), unsolved);
        last.passed = true;
        assert_eq!(state(&exercise, Some(&last)), State::Solved);
        last.models = Some(false);
        assert_eq!(state(&exercise, Some(&last)), unsolved);
        last.compiles = false;
        assert_eq!(state(&exercise, Some(&last)), State::DoesNotCompile);
        fs::write(exercise.stub(), "fn x() { }").unwrap();
        let changed = |solved| State::Changed { solved };
        assert_eq!(state(&exercise, Some(&last)), changed(false));
        last = LastCheck {
            compiles: true,
            models: None,
            ..last
        };
        assert_eq!(state(&exercise, Some(&last)), changed(true));
    }

    #[test]
    fn the_table_says_how_far_an_exercise_is() {
        let spoken = |reached, held, unwritten, milestones| {
            let state = State::Unsolved {
                held,
                clauses: 9,
                unwritten,
                reached,
            };
            state.spoken(milestones)
        };
        assert_eq!(spoken(0, 4, 0, 0), "4 of 9 clauses hold");
        assert_eq!(spoken(0, 4, 5, 0), "4 of 9 clauses hold, 5 not written yet");
        let with_milestones = "1 of 3 milestones: 4 of 9 clauses hold, 3 not written yet";
        assert_eq!(spoken(1, 4, 3, 3), with_milestones);
    }

    #[test]
    fn the_table_says_what_is_next() {
        let listed = |number, title: &str, state, next| Listed {
            number,
            topic: "topic".into(),
            title: title.into(),
            page: None,
            milestones: 0,
            state,
            next,
        };
        let list = [
            listed(1, "run", State::Solved, false),
            listed(2, "a parker", State::NotStarted, true),
        ];
        let expected = "  ✓  1  run       solved\n  ·  2  a parker  not started\n\n\
                        Next: exercise 2, in `exercises/02-topic/src/lib.rs`. `cargo workshop check 2` checks it.\n";
        assert_eq!(table(&list), expected);
    }
}
