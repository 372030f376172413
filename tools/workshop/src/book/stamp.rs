//! The modification times of everything that the book is made from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
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
        let folders = ["src", "theme", "snippets/examples"].map(|folder| root.join(folder));
        let files = folders.iter().flat_map(|folder| files_under(folder));
        let files = files
            .chain([root.join("book.toml")])
            .chain(included.iter().cloned());
        Self(
            files
                .map(|file| (look(&file), file))
                .map(|(seen, file)| (file, seen))
                .collect(),
        )
    }

    /// Adds the files that only `now` knows, and forgets those that it does not.
    pub fn adopt_new(&mut self, mut now: Self) {
        for (file, seen) in &mut now.0 {
            if let Some(before) = self.0.get(file) {
                *seen = *before;
            }
        }
        *self = now;
    }
}

/// Returns `None` for a file that does not exist, or not any more.
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
