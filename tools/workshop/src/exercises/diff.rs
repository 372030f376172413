//! How our solution differs from the reader's version.

use std::fs;
use std::path::{Path, PathBuf};

use similar::{ChangeTag, TextDiff};

use super::catalogue::Exercise;
use crate::problem::Problem;
use crate::terminal::{DIM, GREEN, RED, RESET, harmless};
use crate::workshop::{Workshop, files_under};

/// Lines around each change.
const CONTEXT: usize = 3;

/// A unified diff from the reader's file to the solution's, and then the names
/// of the solution's other files. Comments that document are left out: a reader
/// compares code.
///
/// # Errors
///
/// When a file can't be read.
pub fn diff(workshop: &Workshop, exercise: &Exercise, colors: bool) -> Result<String, Problem> {
    let folder = workshop
        .root()
        .join("solutions")
        .join(exercise.folder_name());
    let solution = folder.join("src/lib.rs");
    let (yours, ours) = (read(&exercise.stub())?, read(&solution)?);
    let mut text = format!(
        "--- {}\n+++ {}\n",
        shown(workshop, &exercise.stub()),
        shown(workshop, &solution)
    );
    text += &changes(&code_of(&harmless(&yours)), &code_of(&ours), colors);
    for file in others(&folder, &solution) {
        text += &format!("Only in the solution: {}\n", shown(workshop, &file));
    }
    Ok(text)
}

fn changes(yours: &str, ours: &str, colors: bool) -> String {
    let diff = TextDiff::from_lines(yours, ours);
    let mut text = String::new();
    for group in diff.grouped_ops(CONTEXT) {
        text += &paint(DIM, "@@\n", colors);
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (sign, color) = match change.tag() {
                ChangeTag::Delete => ('-', RED),
                ChangeTag::Insert => ('+', GREEN),
                ChangeTag::Equal => (' ', ""),
            };
            let line = change.value().trim_end_matches('\n');
            text += &paint(color, &format!("{sign}{line}\n"), colors);
        }
    }
    match text.is_empty() {
        true => "The code is the same.\n".into(),
        false => text,
    }
}

/// The solution's modules, without those that reach the exercise's checks.
fn others(folder: &Path, solution: &Path) -> Vec<PathBuf> {
    let mut files = files_under(&folder.join("src"));
    files.retain(|file| file != solution);
    files.sort();
    files
}

/// The source without what documents it, and without the lines that tie the
/// solution to the exercise's checks.
fn code_of(source: &str) -> String {
    let lines = source.lines().filter(|line| {
        let line = line.trim_start();
        !line.starts_with("///")
            && !line.starts_with("//!")
            && !line.starts_with("// ANCHOR")
            && !line.starts_with("#[path = ")
    });
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// A wrong version's file, with the lines of its edit in colors.
pub fn painted(text: &str, colors: bool) -> String {
    let edit = text.find("\n--- ").map_or(text.len(), |at| at + 1);
    let (header, edit) = text.split_at(edit);
    let line = |line| {
        let color = match line {
            line if str::starts_with(line, "--- ") || line.starts_with("+++ ") => "",
            line if line.starts_with("@@") => DIM,
            line if line.starts_with('-') => RED,
            line if line.starts_with('+') => GREEN,
            _ => "",
        };
        paint(color, line, colors)
    };
    [header.to_owned()]
        .into_iter()
        .chain(edit.split_inclusive('\n').map(line))
        .collect()
}

fn paint(color: &str, line: &str, colors: bool) -> String {
    match colors && !color.is_empty() {
        true => format!("{color}{}{RESET}\n", line.trim_end_matches('\n')),
        false => line.to_owned(),
    }
}

fn read(file: &Path) -> Result<String, Problem> {
    fs::read_to_string(file).map_err(|error| {
        Problem::new(format!("`{}` cannot be read: {error}", file.display()))
            .help("`git status` shows what is missing, and `git restore` brings it back")
    })
}

fn shown(workshop: &Workshop, file: &Path) -> String {
    let file = file.strip_prefix(workshop.root()).unwrap_or(file);
    file.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::{changes, code_of};

    #[test]
    fn code_is_compared_and_documentation_is_not() {
        let yours = "/// Yours.\nfn a() {\n    todo!()\n}\n";
        let ours = "//! Ours.\n\nfn a() {\n    1;\n}\n";
        let text = changes(&code_of(yours), &code_of(ours), false);
        assert_eq!(text, "@@\n+\n fn a() {\n-    todo!()\n+    1;\n }\n");
        assert_eq!(changes("a\n", "a\n", true), "The code is the same.\n");
    }

    #[test]
    fn colors_end_with_the_line() {
        let text = changes("a\n", "b\n", true);
        assert_eq!(
            text,
            "\x1b[2m@@\x1b[0m\n\x1b[31m-a\x1b[0m\n\x1b[32m+b\x1b[0m\n"
        );
    }
}
