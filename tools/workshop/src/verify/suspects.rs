//! The pages on which the reader suspects a line of a wrong program: which program that
//! is, and that the lines at fault are lines of it.

use std::fs;
use std::path::Path;

use wrong::Wrong;

use super::fences::{self, Fence};
use super::{Finding, folds, relative};
use crate::exercises::catalogue;
use crate::exercises::counterexamples::{self, Counterexample};
use crate::workshop::{Workshop, files_under};

const DIV: &str = "<div class=\"suspect\"";

/// Checks each page whose name ends with `-bug`.
pub fn verify(workshop: &Workshop) -> Vec<Finding> {
    let files = files_under(&workshop.root().join("src"));
    let is_about_a_bug = |file: &&std::path::PathBuf| file.to_string_lossy().ends_with("-bug.md");
    let pages = files.iter().filter(is_about_a_bug);
    let faults = pages.filter_map(|file| {
        let text = fs::read_to_string(file).ok()?;
        let (line, fault) = fault_of(workshop, file, &text).err()?;
        let place = format!("{}:{line}", relative(workshop, file));
        let remedy = "see `suspect` in `web/README.md`";
        Some(Finding::new(place, fault, remedy))
    });
    faults.collect()
}

/// What is wrong with a page, and in which line.
fn fault_of(workshop: &Workshop, page: &Path, text: &str) -> Result<(), (usize, String)> {
    let mut lines = text.lines().enumerate();
    let div = lines.find(|(_, line)| line.starts_with(DIV));
    let (at, div) = div.ok_or((1, "no line of this page can be suspected".to_owned()))?;
    let program = Program::of(workshop, div).map_err(|fault| (at + 1, fault))?;
    let fences = fences::read(text);
    let shown = program.shown(page, &fences)?;
    let at_fault: Vec<_> = fences.iter().filter(|fence| fence.has("guilty")).collect();
    if at_fault.is_empty() {
        let fault = "the answer doesn't show the lines that are at fault: `rust,ignore,guilty`";
        return Err((at + 1, fault.into()));
    }
    for fence in at_fault {
        let told = |fault: String| (fence.line, fault);
        if !folds::is_folded(text, fence.line) {
            return Err(told("this gives the answer away".into()));
        }
        for line in lines_of(&expanded(page, &fence.text).map_err(told)?) {
            let count = shown.iter().filter(|shown| **shown == line).count();
            if count != 1 {
                let fault = format!("`{line}` is {count} times in the program that is shown");
                return Err(told(fault));
            }
            if !program.can_be_at_fault(&line) {
                return Err(told(format!("the edit doesn't change `{line}`")));
            }
        }
    }
    Ok(())
}

/// The program in which a line is wrong.
enum Program {
    /// One that the page runs, as its file is.
    Snippet(String),
    /// A wrong version: its whole program, and its file.
    Version(String, Counterexample),
}

impl Program {
    fn of(workshop: &Workshop, div: &str) -> Result<Self, String> {
        let attribute = |name: &str| {
            let (_, rest) = div.split_once(&format!("{name}=\""))?;
            Some(rest.split_once('"')?.0)
        };
        if let Some(name) = attribute("data-snippet") {
            let file = format!("snippets/examples/{name}.rs");
            let text = fs::read_to_string(workshop.root().join(&file));
            let text = text.map_err(|_| format!("there is no `{file}`"))?;
            return Ok(Self::Snippet(text));
        }
        let number = attribute("data-of").and_then(|number| number.parse().ok());
        let name = attribute("data-version").unwrap_or_default();
        let exercise = number.and_then(|number| catalogue::find(workshop, number).ok());
        let exercise = exercise.ok_or("there is no such exercise")?;
        let mut versions = counterexamples::of(workshop, &exercise).into_iter();
        let version = versions.find(|one| one.name == name);
        let version = version.ok_or(format!("there is no wrong version `{name}`"))?;
        let whole = version.whole(workshop);
        let whole = whole.map_err(|problem| problem.error().to_owned())?;
        Ok(Self::Version(whole, version))
    }

    /// The lines that the reader may suspect.
    fn shown(&self, page: &Path, fences: &[Fence]) -> Result<Vec<String>, (usize, String)> {
        let Self::Version(whole, _) = self else {
            let Self::Snippet(text) = self else {
                unreachable!("there are two kinds of program")
            };
            return Ok(lines_of(text));
        };
        let whole = lines_of(whole);
        let mut shown = Vec::new();
        for fence in fences.iter().filter(|fence| fence.has("suspect")) {
            let text = expanded(page, &fence.text).map_err(|fault| (fence.line, fault))?;
            // What's left out between them is no matter, but their order is.
            let mut rest = whole.iter();
            for line in lines_of(&text) {
                if !rest.any(|next| *next == line) {
                    let fault = match whole.contains(&line) {
                        true => format!("the wrong version has `{line}` further up"),
                        false => format!("the wrong version has no line `{line}`"),
                    };
                    return Err((fence.line, fault));
                }
                shown.push(line);
            }
        }
        Ok(shown)
    }

    /// Of an edit, only the lines that it adds are wrong: its base is correct. One that
    /// only takes lines away can be wrong anywhere, as far as a text can tell.
    fn can_be_at_fault(&self, line: &str) -> bool {
        let Self::Version(_, version) = self else {
            return true;
        };
        let text = fs::read_to_string(&version.file).unwrap_or_default();
        let is_edit = version.file.extension().is_some_and(|it| it == "diff");
        if !is_edit || Wrong::read(&text).is_err() {
            return true;
        }
        let added = text.lines().filter(|line| !line.starts_with("+++ "));
        let mut added = added.filter_map(|line| line.strip_prefix('+')).peekable();
        added.peek().is_none() || added.any(|added| added.trim() == line)
    }
}

/// The text of a fence with what it includes.
fn expanded(page: &Path, text: &str) -> Result<String, String> {
    let mut expanded = String::new();
    for line in text.lines() {
        let argument = line.trim().strip_prefix("{{#include ");
        let Some(argument) = argument.and_then(|rest| rest.strip_suffix("}}")) else {
            expanded += &format!("{line}\n");
            continue;
        };
        let (file, anchor) = argument.split_once(':').unwrap_or((argument, ""));
        let folder = page.parent().unwrap_or(Path::new(""));
        let included = fs::read_to_string(folder.join(file));
        let included = included.map_err(|_| format!("`{file}` cannot be read"))?;
        expanded += &part(&included, anchor);
    }
    Ok(expanded)
}

/// The lines from an anchor to its end.
fn part(text: &str, anchor: &str) -> String {
    let name = |line: &str, mark: &str| {
        let (_, name) = line.split_once(mark)?;
        Some(name.trim().to_owned())
    };
    let mut lines = text.lines();
    lines.find(|line| name(line, "ANCHOR:").is_some_and(|name| name == anchor));
    let part = lines.take_while(|line| name(line, "ANCHOR_END:").is_none_or(|name| name != anchor));
    part.map(|line| format!("{line}\n")).collect()
}

/// The lines without their indentation, and without those that show nothing.
fn lines_of(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.contains("ANCHOR"));
    lines.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::verify;
    use crate::workshop::Workshop;

    const EDIT: &str = "Breaks clause 1: Two.\nCaught by: two_is_two\n\
        Base: solutions/01-two\n\nWhy.\n\n--- lib.rs\n+++ lib.rs\n@@ -1,3 +1,3 @@\n \
        pub fn two() -> u32 {\n-    2\n+    3\n }\n";
    const PAGE: &str = "# Find the bug\n\n```rust,ignore,suspect\npub fn two() -> u32 {\n    \
        3\n}\n```\n\n<div class=\"suspect\" data-of=\"1\" data-version=\"c01_three\"></div>\n\n\
        <details>\n<summary>The answer</summary>\n\n```rust,ignore,guilty\n    3\n```\n\n</details>\n";

    /// What is told of a page.
    fn told(page: &str) -> Vec<String> {
        told_of(EDIT, page)
    }

    fn told_of(edit: &str, page: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in [
            ("exercises/01-two/Cargo.toml", ""),
            ("solutions/01-two/Cargo.toml", ""),
            (
                "solutions/01-two/src/lib.rs",
                "pub fn two() -> u32 {\n    2\n}\n",
            ),
            ("counterexamples/src/exercise_1/c01_three.diff", edit),
            ("src/two-bug.md", page),
        ] {
            let file = folder.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let findings = verify(&Workshop::at(folder.path())).into_iter();
        findings
            .map(|one| format!("{} {}", one.place, one.fault))
            .collect()
    }

    #[track_caller]
    fn assert_told(from: &str, to: &str, what: &str) {
        assert!(PAGE.contains(from), "{from}");
        let told = told(&PAGE.replace(from, to));
        assert!(told.len() == 1 && told[0].contains(what), "{told:?}");
    }

    #[test]
    fn the_lines_at_fault_are_what_the_edit_changes_of_the_program_that_is_shown() {
        assert_eq!(told(PAGE), Vec::<String>::new());
        assert_told(
            "guilty\n    3",
            "guilty\npub fn two() -> u32 {",
            ":14 the edit doesn't change",
        );
        assert_told("guilty\n    3", "guilty\n    4", "`4` is 0 times");
        assert_told("    3\n}", "    3\n    3\n}", "has `3` further up");
        assert_told("    3\n}", "    2\n}", "has no line `2`");
        assert_told(
            "pub fn two() -> u32 {\n    3\n}",
            "}\npub fn two() -> u32 {\n    3",
            "has `pub fn two() -> u32 {` further up",
        );
    }

    #[test]
    fn an_edit_that_only_takes_lines_away_is_wrong_where_the_page_says() {
        let edit = EDIT
            .replace("+    3\n", "")
            .replace("-1,3 +1,3", "-1,3 +1,2");
        let page = PAGE.replace("    3\n}", "}");
        let page = page.replace("guilty\n    3", "guilty\npub fn two() -> u32 {");
        assert_eq!(told_of(&edit, &page), Vec::<String>::new());
    }

    #[test]
    fn the_answer_is_there_and_folded() {
        assert_told(",guilty", "", "doesn't show the lines");
        assert_told("<details>", "<details open>", "gives the answer away");
        assert_told("c01_three\"", "c01\"", "no wrong version `c01`");
        assert_told(
            "<div class=\"suspect\"",
            "<div class=\"other\"",
            "can be suspected",
        );
    }
}
