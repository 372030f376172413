//! The files of the workspace that the crates are made from, as they were when
//! cargo was about to read them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::hash::Fnv;

/// A file may be saved twice before a file system's clock moves on. What was
/// saved this shortly before we looked is told apart by its content as well.
const CLOCK_STEP: Duration = Duration::from_secs(2);

/// Folders of a package that none of its libraries is made from.
const OTHER_TARGETS: [&str; 4] = ["benches", "examples", "target", "tests"];

/// Each file, and how it was; `None` if there was no such file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources(BTreeMap<PathBuf, Option<Seen>>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    stamp: Stamp,
    /// The content's hash, if the stamp alone might not tell it from the next.
    hash: Option<String>,
}

impl Sources {
    /// Looks at what cargo reads first: the manifests of all packages in the
    /// workspace at `root`, and what belongs to no package.
    pub fn of_workspace(root: &Path) -> Self {
        let manifests = folders_of(root, 2).into_iter();
        let manifests = manifests.map(|folder| folder.join("Cargo.toml"));
        let others = ["Cargo.lock", ".cargo/config.toml", "rust-toolchain.toml"];
        let others = others.iter().map(|name| root.join(name));
        Self::of(manifests.chain(others))
    }

    /// Adds the files of these packages.
    pub fn add_packages(&mut self, folders: &BTreeSet<PathBuf>) {
        let files = folders.iter().flat_map(|folder| files_of_package(folder));
        for (file, seen) in Self::of(files).0 {
            // Of a manifest counts how it was before cargo read it.
            self.0.entry(file).or_insert(seen);
        }
    }

    /// Looks at the lock file again, which cargo itself may have written.
    pub fn renew_lock(&mut self, root: &Path) {
        self.0.extend(Self::of([root.join("Cargo.lock")]).0);
    }

    fn of(files: impl IntoIterator<Item = PathBuf>) -> Self {
        let with_look = |file: PathBuf| {
            let seen = Seen::look(&file);
            (file, seen)
        };
        Self(files.into_iter().map(with_look).collect())
    }

    /// Returns `true` if any of the files isn't what it was.
    pub fn have_changed(&self) -> bool {
        self.0.iter().any(|(file, seen)| match seen {
            Some(seen) => !seen.still_holds(file),
            None => file.exists(),
        })
    }
}

impl Seen {
    fn look(file: &Path) -> Option<Self> {
        let metadata = file.metadata().ok()?;
        let age = metadata.modified().ok()?.elapsed().unwrap_or_default();
        let hash = match age < CLOCK_STEP {
            true => Some(Fnv::of(&fs::read(file).ok()?)),
            false => None,
        };
        Some(Self {
            stamp: Stamp::of(&metadata)?,
            hash,
        })
    }

    fn still_holds(&self, file: &Path) -> bool {
        let now = file.metadata().ok();
        let same_stamp = now.and_then(|now| Stamp::of(&now)).as_ref() == Some(&self.stamp);
        let same_content = |hash: &String| fs::read(file).is_ok_and(|now| Fnv::of(&now) == *hash);
        same_stamp && self.hash.as_ref().is_none_or(same_content)
    }
}

/// What a file system says of a file: a change of the content changes it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    length: u64,
    identity: Identity,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Option<Self> {
        Some(Self {
            modified: metadata.modified().ok()?,
            length: metadata.len(),
            identity: identity(metadata),
        })
    }
}

/// The file's number, and when anything about it was changed: a copy of an older
/// file may have the older file's time.
type Identity = (u64, i64, i64);

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn identity(_metadata: &Metadata) -> Identity {
    (0, 0, 0)
}

/// The folder, and those in it down to this depth.
fn folders_of(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut found = vec![folder.to_path_buf()];
    if depth > 0 {
        for inner in inner_folders(folder) {
            found.extend(folders_of(&inner, depth - 1));
        }
    }
    found
}

/// The files that a library of the package may be made from.
fn files_of_package(folder: &Path) -> Vec<PathBuf> {
    let mut files = vec![folder.join("Cargo.toml")];
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let is_file = |entry: &fs::DirEntry| entry.path().is_file();
        files.extend(entries.filter(is_file).map(|entry| entry.path()));
        folders.extend(inner_folders(&folder));
    }
    files
}

fn inner_folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_of_a_library = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // A link may lead in a circle.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        is_folder && !name.starts_with('.') && !OTHER_TARGETS.contains(&&*name)
    };
    let folders = entries.filter(is_of_a_library);
    folders.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::Path;
    #[cfg(unix)]
    use std::time::{Duration, SystemTime};

    use super::Sources;

    fn package(root: &Path) -> Sources {
        let mut sources = Sources::of_workspace(root);
        sources.add_packages(&[root.join("one")].into());
        sources
    }

    #[test]
    fn every_change_is_seen_also_one_that_leaves_length_and_time_as_they_were() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("one/src/lib.rs");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::create_dir_all(root.path().join("one/examples")).unwrap();
        fs::write(&file, "one").unwrap();
        let before = package(root.path());
        assert!(!before.have_changed());
        fs::write(root.path().join("one/examples/x.rs"), "").unwrap();
        assert!(!before.have_changed(), "no library is made from an example");

        let time = file.metadata().unwrap().modified().unwrap();
        fs::write(&file, "two").unwrap();
        File::options()
            .write(true)
            .open(&file)
            .unwrap()
            .set_modified(time)
            .unwrap();
        assert!(before.have_changed());
        let now = package(root.path());
        fs::write(root.path().join("Cargo.lock"), "").unwrap();
        assert!(now.have_changed(), "a file appeared");
    }

    #[cfg(unix)]
    #[test]
    fn an_old_file_put_in_the_place_of_another_is_a_change() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("one/src/lib.rs");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let long_ago = SystemTime::now() - Duration::from_secs(1000);
        let write = |file: &Path, text: &str| {
            fs::write(file, text).unwrap();
            File::options()
                .write(true)
                .open(file)
                .unwrap()
                .set_modified(long_ago)
                .unwrap();
        };
        let other = root.path().join("other.rs");
        write(&file, "one");
        write(&other, "two");
        let before = package(root.path());
        fs::rename(other, &file).unwrap();
        assert!(before.have_changed());
    }
}
