//! What the path of a source file reveals: whose code is in it, and how a
//! reader knows it.

/// The folders of the code that a check may be about.
const SUBJECTS: [&str; 4] = [
    "exercises/",
    "solutions/",
    "alternatives/",
    "counterexamples/",
];

/// The parts of a path that only a check's file has.
const CHECKS: [&str; 3] = ["src/tests.rs", "src/tests/", "src/models"];

/// Whether the file is in a folder of the code that a check may be about. The
/// check itself may be there, too.
pub(crate) fn is_in_subject_folder(file: &str) -> bool {
    SUBJECTS.iter().any(|folder| file.contains(folder))
}

/// Whether the file is a check's or a model's.
pub(crate) fn is_of_check(file: &str) -> bool {
    CHECKS.iter().any(|part| file.contains(part))
}

/// The folder of the exercise whose tests are in this file.
pub(crate) fn exercise_folder(path: &str) -> &str {
    let package = path.rsplit_once("/src/").map_or("", |(package, _)| package);
    package.rsplit('/').next().unwrap_or_default()
}

/// The path of a tests file as seen from the workspace, without the `..`
/// through which a solution reaches it.
pub(crate) fn without_detours(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        if part != ".." || parts.pop().is_none() {
            parts.push(part);
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_without_detours() {
        let path = without_detours("solutions/01/src/../../../exercises/01/src/tests.rs");
        assert_eq!(path, "exercises/01/src/tests.rs");
    }
}
