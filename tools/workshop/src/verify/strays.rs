//! An exercise's `src` has the stub, what the stub declares, and nothing else; likewise a
//! solution's. The compiler doesn't see a file that no module declares, so a part of a
//! solution could lie in an exercise unnoticed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::{Finding, relative};
use crate::exercises::catalogue::Exercise;
use crate::workshop::{Workshop, files_under};

/// Finds the files in these exercises, and in their solutions, that aren't declared.
pub fn verify(workshop: &Workshop, exercises: &[Exercise]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for exercise in exercises {
        let solution = workshop
            .root()
            .join("solutions")
            .join(exercise.folder_name());
        for folder in [&exercise.folder, &solution] {
            for stray in strays(&folder.join("src")) {
                findings.push(Finding::new(
                    relative(workshop, &stray),
                    "no module declares this file, so it isn't a part of the program",
                    "remove it, or declare it: an exercise's `src` has the stub, the checks and \
                     what the stub declares",
                ));
            }
        }
    }
    findings
}

/// The files in the folder that `lib.rs` doesn't reach.
fn strays(folder: &Path) -> Vec<PathBuf> {
    let reached = reached_from(folder.join("lib.rs"));
    let is_kept = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        // What git ignores: the reader's versions, and what is about to take their place.
        name.ends_with(".kept.rs") || name.ends_with(".loose")
    };
    let mut files = files_under(folder);
    files.retain(|file| !reached.contains(file) && !is_kept(file));
    files.sort();
    files
}

/// The file, and those of the modules that it and they declare.
fn reached_from(root: PathBuf) -> BTreeSet<PathBuf> {
    let mut reached = BTreeSet::new();
    let mut open = vec![root];
    while let Some(file) = open.pop() {
        let Ok(source) = fs::read_to_string(&file) else {
            continue;
        };
        if reached.insert(file.clone()) {
            open.extend(declared_in(&file, &source));
        }
    }
    reached
}

/// The files that may hold the modules that this one declares.
fn declared_in(file: &Path, source: &str) -> Vec<PathBuf> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let is_root = ["lib.rs", "mod.rs"].map(|name| file.ends_with(name));
    let below = match is_root.contains(&true) {
        true => folder.to_path_buf(),
        false => file.with_extension(""),
    };
    let mut files = Vec::new();
    let mut path = None;
    for line in source.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("#[path = \"") {
            path = rest.strip_suffix("\"]");
        } else if let Some(name) = declared(line) {
            match path.take() {
                Some(path) => files.push(plain(&folder.join(path))),
                None => {
                    files.push(below.join(format!("{name}.rs")));
                    files.push(below.join(name).join("mod.rs"));
                }
            }
        } else if !line.starts_with("#[") {
            path = None;
        }
    }
    files
}

/// `x` in `pub mod x;`.
fn declared(line: &str) -> Option<&str> {
    let (before, name) = line.strip_suffix(';')?.rsplit_once("mod ")?;
    let is_name = name.chars().all(|one| one.is_alphanumeric() || one == '_');
    let is_visibility = before.is_empty() || before.starts_with("pub");
    (is_name && is_visibility).then_some(name)
}

/// The path without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::verify;
    use crate::exercises::catalogue;
    use crate::workshop::Workshop;

    const LIB: &str = "#[cfg(all(test, feature = \"loom\"))]\nmod models;\n\
                       #[cfg(test)]\n#[path = \"tests/mod.rs\"]\nmod tests;\n\
                       pub(crate) mod ring;\nmod shared {\n    #[path = \"list.rs\"]\n    \
                       mod list;\n}\nfn f() {}\n";

    /// The places that are told.
    fn told(root: &Path) -> Vec<String> {
        let workshop = Workshop::at(root);
        let findings = verify(&workshop, &catalogue::find_all(&workshop));
        findings.into_iter().map(|one| one.place).collect()
    }

    #[test]
    fn a_file_that_no_module_declares_is_found() {
        let root = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("exercises/07-ring/Cargo.toml", "");
        for kind in ["exercises", "solutions"] {
            let folder = format!("{kind}/07-ring/src");
            write(&format!("{folder}/lib.rs"), LIB);
            write(&format!("{folder}/tests/mod.rs"), "mod takes;\n");
            write(&format!("{folder}/tests/takes.rs"), "");
            write(&format!("{folder}/models.rs"), "mod shuttle;\n");
            write(&format!("{folder}/models/shuttle.rs"), "");
            write(&format!("{folder}/ring.rs"), "");
            write(&format!("{folder}/list.rs"), "");
        }
        write("exercises/07-ring/src/lib-1.kept.rs", "");
        assert!(told(root.path()).is_empty(), "{:?}", told(root.path()));

        write("exercises/07-ring/src/work.rs", "pub fn work() {}");
        write("exercises/07-ring/src/tests/old.rs", "");
        write("exercises/07-ring/src/lib.rs.orig", "");
        write("solutions/07-ring/src/unused.rs", "");
        assert_eq!(
            told(root.path()),
            [
                "exercises/07-ring/src/lib.rs.orig",
                "exercises/07-ring/src/tests/old.rs",
                "exercises/07-ring/src/work.rs",
                "solutions/07-ring/src/unused.rs"
            ]
        );
    }
}
