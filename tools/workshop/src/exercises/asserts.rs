//! Whether the reader's code depends on debug assertions. The tests are built with them,
//! and a release build has none, so an effect inside a `debug_assert!` is missing there.

use std::fs;
use std::path::PathBuf;

use super::catalogue::Exercise;

/// What code is called that a release build leaves out, or does differently.
const MARKS: [&str; 2] = ["debug_assert", "debug_assertions"];

/// The first line that depends on them, as `src/lib.rs:12`.
pub fn in_exercise(exercise: &Exercise) -> Option<String> {
    let checks = [exercise.tests(), exercise.models()].concat();
    let is_own =
        |file: &PathBuf| !checks.contains(file) && file.extension().is_some_and(|end| end == "rs");
    exercise
        .sources()
        .into_iter()
        .filter(is_own)
        .find_map(|file| {
            let line = first_line(&fs::read_to_string(&file).unwrap_or_default())?;
            let name = file.strip_prefix(&exercise.folder).unwrap_or(&file);
            Some(format!("{}:{line}", name.display()))
        })
}

/// The first line outside comments with one of the marks, counted from 1.
fn first_line(source: &str) -> Option<usize> {
    let is_marked = |line: &str| MARKS.iter().any(|mark| line.contains(mark));
    let mut lines = source.lines().map(|line| line.split("//").next());
    lines
        .position(|code| code.is_some_and(is_marked))
        .map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::first_line;

    #[test]
    fn what_a_release_build_leaves_out_is_found() {
        let source = "fn f(x: u8) {\n    debug_assert!(x > 0); // why\n}\n";
        assert_eq!(first_line(source), Some(2));
        assert_eq!(first_line("debug_assert_eq!(a, b);"), Some(1));
        assert_eq!(first_line("if cfg!(debug_assertions) {"), Some(1));
        assert_eq!(
            first_line("/// No `debug_assert!` here.\nassert!(a);"),
            None
        );
    }
}
