//! How the exercises stand, as far as is known without running anything.

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
                name: name(&exercise, pages.get(&exercise.number)),
                title: exercise.title(),
                page: pages.get(&exercise.number).map(|one| one.address.clone()),
                topic: exercise.topic,
                state,
                next,
            }
        })
        .collect()
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Exercise, LastCheck, State, Workshop, list, state};

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
