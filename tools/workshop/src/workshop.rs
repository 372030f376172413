//! The folder that the reader works in, and what the command keeps in it.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::problem::Problem;
use crate::removal::remove_tree;

/// The workshop's folder.
#[derive(Clone, Debug)]
pub struct Workshop {
    root: PathBuf,
    // Where cargo puts what it builds.
    target: PathBuf,
}

impl Workshop {
    /// Finds the workshop that the current folder lies in.
    ///
    /// # Errors
    ///
    /// When neither the current folder nor any above it is a workshop.
    pub fn find() -> Result<Self, Problem> {
        let here = std::env::current_dir().map_err(|error| {
            Problem::new(format!("the current folder cannot be read: {error}"))
                .help("change into the workshop's folder and run `cargo workshop` again")
        })?;
        let root = here.ancestors().find(|folder| {
            folder.join("book.toml").is_file() && folder.join("snippets/Cargo.toml").is_file()
        });
        match root {
            Some(root) => Ok(Self {
                root: root.into(),
                target: target_of(root),
            }),
            None => Err(Problem::new(format!(
                "`{}` is not inside the workshop's folder",
                here.display()
            ))
            .help("change into the folder that you cloned, the one with `book.toml` in it")),
        }
    }

    /// The workshop in this folder, for tests. They keep to it, no matter which
    /// target folder they were built in.
    #[cfg(test)]
    pub fn at(root: &Path) -> Self {
        Self {
            root: root.into(),
            target: root.join("target"),
        }
    }

    /// The folder with `book.toml` in it.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Makes the target folder, and tries whether something fits into it: a build
    /// that fails half way says so less clearly.
    ///
    /// # Errors
    ///
    /// When the folder can't be written to, or the disk is full.
    pub fn prepare_target(&self) -> Result<(), Problem> {
        let target = self.target();
        try_writing(&target)?;
        remove_stale(&target);
        Ok(())
    }

    /// Where everything that the command makes is kept, apart from what plain
    /// `cargo` builds.
    pub fn target(&self) -> PathBuf {
        self.target.join("workshop")
    }
}

/// Cargo's target folder in the workshop, or the one that the reader has chosen.
fn target_of(root: &Path) -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) if !folder.is_empty() => root.join(folder),
        _ => root.join("target"),
    }
}

/// A folder of this process alone, under the target folder. It is removed
/// from disk only in part: what speeds up the next start stays.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
    // The lock lasts as long as the file is open, and no longer than the
    // process lives.
    _lock: File,
}

impl Scratch {
    /// Claims the folder, and removes what a killed process left in it.
    ///
    /// # Errors
    ///
    /// When the target folder can't be written to.
    pub fn claim(target: &Path) -> Result<Self, Problem> {
        try_writing(target)?;
        let unwritable = |error| unwritable(target, &error);
        for number in 1.. {
            // A second `cargo workshop` in the same folder works beside the first.
            let folder = match number {
                1 => target.to_path_buf(),
                _ => target.join(format!("instance-{number}")),
            };
            fs::create_dir_all(&folder).map_err(unwritable)?;
            let lock = File::create(folder.join("lock")).map_err(unwritable)?;
            match lock.try_lock() {
                Ok(()) => {
                    let scratch = Self {
                        folder,
                        _lock: lock,
                    };
                    scratch.sweep().map_err(unwritable)?;
                    return Ok(scratch);
                }
                Err(TryLockError::WouldBlock) => continue,
                Err(TryLockError::Error(error)) => return Err(unwritable(error)),
            }
        }
        unreachable!("the numbers never end")
    }

    /// A folder in which every run gets one of its own.
    pub fn runs(&self) -> PathBuf {
        self.folder.join("runs")
    }

    /// A folder for the compiler's incremental state.
    pub fn incremental(&self) -> PathBuf {
        self.folder.join("incremental")
    }

    /// The folder of the book's `number`-th build.
    pub fn book(&self, number: u64) -> PathBuf {
        self.folder.join(format!("book-{number}"))
    }

    /// Removes the books and the runs.
    ///
    /// # Errors
    ///
    /// When the folder can't be read or written to.
    pub fn sweep(&self) -> std::io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name == "runs" || name.starts_with("book-") {
                // What can't be removed does no harm: names aren't used a
                // second time.
                let _left = remove_tree(&entry.path());
            }
        }
        fs::create_dir_all(self.runs())
    }
}

/// Removes what checks that were killed have left in `folder`.
fn remove_stale(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix("events-")) else {
            continue;
        };
        let process = rest
            .split('-')
            .next()
            .and_then(|number| number.parse().ok());
        if process.is_none_or(is_over) || is_old(&entry) {
            // What can't be removed is small, and does no harm.
            let _left = fs::remove_file(entry.path());
        }
    }
}

/// Whether the process has ended, where the system tells.
fn is_over(process: u32) -> bool {
    let processes = Path::new("/proc");
    processes.join("self").exists() && !processes.join(process.to_string()).exists()
}

/// Whether no check can still write to it.
fn is_old(entry: &fs::DirEntry) -> bool {
    // A check takes a quarter of that at most.
    const HOUR: Duration = Duration::from_secs(60 * 60);
    let changed = entry.metadata().and_then(|metadata| metadata.modified());
    changed.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > HOUR))
}

/// Writes to a file in `folder`, which it makes if there is none.
fn try_writing(folder: &Path) -> Result<(), Problem> {
    let probe = folder.join(format!("probe-{}", std::process::id()));
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&probe, PROBE));
    // Where it couldn't be written, there may be none.
    let _gone = fs::remove_file(&probe);
    written.map_err(|error| unwritable(folder, &error))
}

/// Far less than any build needs.
static PROBE: [u8; 64 << 10] = [0; 64 << 10];

fn unwritable(folder: &Path, error: &std::io::Error) -> Problem {
    Problem::new(format!(
        "`{}` cannot be written to: {error}",
        folder.display()
    ))
    .help("make room or change its owner, or set CARGO_TARGET_DIR to another folder")
}

/// All files in `folder` and below; none if there is no such folder.
pub fn files_under(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(_) => files.push(entry.path()),
                Err(_) => {}
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::{Duration, SystemTime};

    use super::Workshop;

    #[test]
    fn what_killed_checks_have_left_is_removed_in_time() {
        let root = tempfile::tempdir().unwrap();
        let workshop = Workshop::at(root.path());
        workshop.prepare_target().unwrap();
        let own = format!("events-{}-0", std::process::id());
        let long_ago = SystemTime::now() - Duration::from_secs(2 * 60 * 60);
        for (name, time) in [
            (own.clone(), SystemTime::now()),
            (format!("events-{}-1", std::process::id()), long_ago),
            // No system gives a process so large a number.
            ("events-4294967295-0".into(), SystemTime::now()),
            ("progress.json".into(), long_ago),
        ] {
            let file = File::create(workshop.target().join(name)).unwrap();
            file.set_modified(time).unwrap();
        }
        workshop.prepare_target().unwrap();
        let left = fs::read_dir(workshop.target()).unwrap();
        let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [&*own, "progress.json"]);
    }
}
