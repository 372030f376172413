//! How the exercises stand, as far as is known without running anything.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fs;

use serde::Serialize;

use super::catalogue::{self, Exercise};
use super::milestones::{self, Milestone};
use super::progress::{LastCheck, Progress};
use super::source;
use crate::terminal::harmless;
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
    /// What its page calls it, which is shorter. Only the list for people has it.
    #[serde(skip)]
    pub name: String,
    /// The page with its panel, from the root of the book.
    pub page: Option<String>,
    /// How many milestones it has.
    pub milestones: usize,
    /// How it stands.
    #[serde(flatten)]
    pub state: State,
    /// Whether it is the first that isn't solved, or, if all are, the first whose models
    /// are still to be explored.
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
    Solved {
        /// Whether that was every model: a page runs the tests only, unless its reader
        /// asks for the models.
        explored: bool,
    },
}

impl State {
    /// Returns `true` if every test passes, and each model that was explored.
    pub fn is_solved(&self) -> bool {
        matches!(self, Self::Solved { .. })
    }
}

/// Lists all exercises.
pub fn list(workshop: &Workshop) -> Vec<Listed> {
    let progress = Progress::load(workshop);
    let pages = pages(workshop);
    let exercises = catalogue::find_all(workshop).into_iter();
    let mut list: Vec<_> = exercises
        .map(|exercise| {
            let state = state(&exercise, progress.of(exercise.number).last.as_ref());
            Listed {
                number: exercise.number,
                milestones: exercise.milestones().len(),
                name: name(&exercise, pages.get(&exercise.number)),
                title: exercise.title(),
                page: pages.get(&exercise.number).map(|one| one.address.clone()),
                topic: exercise.topic,
                state,
                next: false,
            }
        })
        .collect();
    if let Some(next) = first_to_do(list.iter_mut()) {
        next.next = true;
    }
    list
}

/// The first that isn't solved. If all are, the first whose models are still to be
/// explored.
pub fn first_to_do<L: Borrow<Listed>>(list: impl Iterator<Item = L>) -> Option<L> {
    let mut unexplored = None;
    for one in list {
        match one.borrow().state {
            State::Solved { explored: true } => {}
            State::Solved { explored: false } => unexplored = unexplored.or(Some(one)),
            _ => return Some(one),
        }
    }
    unexplored
}

/// A page with the panel of an exercise.
struct Page {
    address: String,
    /// The first line, if it is a heading.
    heading: Option<String>,
}

/// What the exercise's page calls it, behind `# Exercise 2: `. Without a page, its title.
fn name(exercise: &Exercise, page: Option<&Page>) -> String {
    let heading = page.and_then(|page| page.heading.as_deref());
    let name = heading.and_then(|heading| Some(heading.split_once(": ")?.1));
    name.map_or_else(|| exercise.title(), |name| harmless(&name.replace('`', "")))
}

/// The pages with the panels of the exercises.
fn pages(workshop: &Workshop) -> BTreeMap<u32, Page> {
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
            let heading = text.lines().next().filter(|line| line.starts_with("# "));
            let page = Page {
                // In an address the parts of a path are always separated so.
                address: page.to_string_lossy().replace('\\', "/"),
                heading: heading.map(str::to_owned),
            };
            pages.insert(number, page);
        }
    }
    pages
}

/// The first exercise that isn't solved, or whose models are still to be explored.
pub fn next(workshop: &Workshop) -> Option<Exercise> {
    let next = list(workshop).into_iter().find(|exercise| exercise.next)?;
    catalogue::find(workshop, next.number).ok()
}

fn state(exercise: &Exercise, last: Option<&LastCheck>) -> State {
    let stub = fs::read_to_string(exercise.stub()).unwrap_or_default();
    let clauses = source::contract(&stub).clauses.len();
    match last {
        Some(last) if last.fingerprint == exercise.fingerprint() => {
            known(last, exercise, clauses, &exercise.milestones())
        }
        Some(last) => State::Changed {
            solved: known(last, exercise, clauses, &[]).is_solved(),
        },
        None if stub.contains("todo!(") => State::NotStarted,
        None => State::NotChecked,
    }
}

fn known(last: &LastCheck, exercise: &Exercise, clauses: usize, milestones: &[Milestone]) -> State {
    if !last.compiles {
        return State::DoesNotCompile;
    }
    if last.passed && last.models != Some(false) {
        let explored = last.models == Some(true) || exercise.models().is_empty();
        return State::Solved { explored };
    }
    State::Unsolved {
        held: last.held(),
        clauses: clauses.max(last.clauses.len()),
        unwritten: last.unwritten.len(),
        reached: milestones::reached(milestones, |clause| last.holds(clause)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Exercise, LastCheck, Listed, State, Workshop, first_to_do, list, state};

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
        let solved = |explored| State::Solved { explored };
        assert_eq!(state(&exercise, Some(&last)), solved(true));
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
    fn models_that_were_not_explored_are_still_to_be() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("src")).unwrap();
        let exercise = Exercise {
            number: 1,
            topic: "x".into(),
            folder: root.path().into(),
        };
        fs::write(exercise.stub(), "fn x() {}").unwrap();
        fs::write(root.path().join("src/models.rs"), "").unwrap();
        let stands = |models| {
            let last = LastCheck {
                fingerprint: exercise.fingerprint(),
                compiles: true,
                passed: true,
                clauses: [(1, true)].into(),
                unwritten: [].into(),
                models,
            };
            state(&exercise, Some(&last))
        };
        assert_eq!(stands(None), State::Solved { explored: false });
        assert_eq!(stands(Some(true)), State::Solved { explored: true });
        assert!(!stands(Some(false)).is_solved());
    }

    #[test]
    fn models_are_next_once_every_exercise_is_solved() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["01-one", "02-two", "03-three"] {
            let folder = root.path().join("exercises").join(folder);
            fs::create_dir_all(folder.join("src")).unwrap();
            fs::write(folder.join("Cargo.toml"), "").unwrap();
        }
        let mut list = list(&Workshop::at(root.path()));
        let next = |list: &[Listed]| first_to_do(list.iter()).map(|one| one.number);
        assert!(list[0].next && !list[1].next && !list[2].next);
        list[0].state = State::Solved { explored: false };
        assert_eq!(next(&list), Some(2));
        list[1].state = State::Solved { explored: true };
        list[2].state = State::Solved { explored: false };
        assert_eq!(next(&list), Some(1));
        list[0].state = State::Solved { explored: true };
        assert_eq!(next(&list), Some(3));
        list[2].state = State::Solved { explored: true };
        assert_eq!(next(&list), None);
    }

    #[test]
    fn the_page_has_the_short_name() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("exercises/02-parker");
        fs::create_dir_all(folder.join("src")).unwrap();
        fs::write(folder.join("Cargo.toml"), "").unwrap();
        fs::write(folder.join("stub.rs"), "//! Exercise 2: a long title.\n").unwrap();
        let workshop = Workshop::at(root.path());
        let listed = || list(&workshop).remove(0);
        assert_eq!(listed().name, "a long title");
        let page = "# Exercise 2: a `Parker`\n\n<div class=\"exercise\" data-exercise=\"2\">\n";
        fs::create_dir_all(root.path().join("src/one")).unwrap();
        fs::write(root.path().join("src/one/parker.md"), page).unwrap();
        let listed = listed();
        assert_eq!(listed.name, "a Parker");
        assert_eq!(listed.title, "a long title");
        assert_eq!(listed.page.as_deref(), Some("one/parker.html"));
    }
}
