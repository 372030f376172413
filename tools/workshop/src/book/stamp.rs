//! The modification times of everything that the book is made from.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use super::includes;
use crate::workshop::{Workshop, files_under};

/// When each file was last changed, and its length. Two stamps are equal if
/// nothing has happened in between.
#[derive(Debug, PartialEq, Eq)]
pub struct Stamp(BTreeMap<PathBuf, Option<(SystemTime, u64)>>);

impl Stamp {
    /// Looks at the files of the book, and at `included` ones elsewhere.
    pub fn take(workshop: &Workshop, included: &[PathBuf]) -> Self {
        let root = workshop.root();
        let folders = FOLDERS.map(|folder| root.join(folder));
        let files = folders.iter().flat_map(|folder| files_under(folder));
        let files = files
            .chain([root.join(CONFIGURATION)])
            .chain(included.iter().cloned());
        Self(
            files
                .map(|file| (look(&file), file))
                .map(|(seen, file)| (file, seen))
                .collect(),
        )
    }

    /// Watches these included files from now on, and no others. One that wasn't
    /// watched before belongs, as it is now, to the build that found it. A
    /// change to the others meanwhile is still to be noticed, even if a file came
    /// back.
    pub fn include(&mut self, workshop: &Workshop, included: &[PathBuf]) {
        let is_listed = |file: &Path| is_listed(workshop.root(), file);
        self.0
            .retain(|file, _| is_listed(file) || included.contains(file));
        for file in included {
            let seen = match is_listed(file) {
                true => None,
                false => look(file),
            };
            self.0.entry(file.clone()).or_insert(seen);
        }
    }
}

/// The file that says how the book is built.
const CONFIGURATION: &str = "book.toml";

/// The folders whose files are all watched.
const FOLDERS: [&str; 3] = ["src", "theme", "snippets/examples"];

/// Whether a file is found without an include. An included one may lie
/// elsewhere, or be named by a path that goes up again.
fn is_listed(root: &Path, file: &Path) -> bool {
    let goes_up = file.components().any(|part| part == Component::ParentDir);
    let mut folders = FOLDERS.iter().map(|folder| root.join(folder));
    let is_in_one = !goes_up && folders.any(|folder| file.starts_with(folder));
    is_in_one || file == root.join(CONFIGURATION)
}

/// Returns `None` for a file that doesn't exist, or no longer does.
fn look(file: &Path) -> Option<(SystemTime, u64)> {
    let metadata = file.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// The files that the chapters include.
pub fn included_files(workshop: &Workshop) -> Vec<PathBuf> {
    let mut files: Vec<_> = includes(workshop)
        .into_iter()
        .map(|include| include.file)
        .collect();
    files.sort();
    files.dedup();
    files
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Stamp;
    use crate::workshop::Workshop;

    #[test]
    fn a_file_that_comes_back_during_a_build_is_noticed_after_it() {
        let root = tempfile::tempdir().unwrap();
        let workshop = Workshop::at(root.path());
        fs::create_dir(root.path().join("src")).unwrap();
        let elsewhere = root.path().join("elsewhere.rs");
        let chapter = root.path().join("src/one.md");
        fs::write(&elsewhere, "1").unwrap();
        let mut stamp = Stamp::take(&workshop, &[]);

        // The build finds that a chapter is missing, and another includes a file.
        let included = [elsewhere.clone(), chapter.clone()];
        stamp.include(&workshop, &included);
        assert_eq!(stamp, Stamp::take(&workshop, &included), "nothing changed");
        fs::write(&chapter, "# One").unwrap();
        stamp.include(&workshop, &included);
        assert_ne!(stamp, Stamp::take(&workshop, &included), "it came back");

        let mut stamp = Stamp::take(&workshop, &included);
        fs::write(&elsewhere, "another").unwrap();
        stamp.include(&workshop, &included);
        assert_ne!(stamp, Stamp::take(&workshop, &included), "it was changed");
        stamp.include(&workshop, &[]);
        assert_eq!(stamp, Stamp::take(&workshop, &[]), "it is of no interest");
    }
}
