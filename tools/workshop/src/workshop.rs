//! The folder that the reader works in, and what the command keeps in it.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use crate::problem::Problem;
use crate::removal::remove_tree;

/// The workshop's folder.
#[derive(Clone, Debug)]
pub struct Workshop {
    root: PathBuf,
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
            Some(root) => Ok(Self { root: root.into() }),
            None => Err(Problem::new(format!(
                "`{}` is not inside the workshop's folder",
                here.display()
            ))
            .help("change into the folder that you cloned, the one with `book.toml` in it")),
        }
    }

    /// The workshop in this folder, for tests.
    #[cfg(test)]
    pub fn at(root: &Path) -> Self {
        Self { root: root.into() }
    }

    /// The folder with `book.toml` in it.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where everything that the command makes is kept, apart from what plain
    /// `cargo` builds.
    pub fn target(&self) -> PathBuf {
        match std::env::var_os("CARGO_TARGET_DIR") {
            Some(folder) if !folder.is_empty() => self.root.join(folder).join("workshop"),
            _ => self.root.join("target/workshop"),
        }
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
    /// When the target folder cannot be written to.
    pub fn claim(target: &Path) -> Result<Self, Problem> {
        let unwritable = |error: std::io::Error| {
            Problem::new(format!(
                "`{}` cannot be written to: {error}",
                target.display()
            ))
            .help("make room or change its owner, or set CARGO_TARGET_DIR to another folder")
        };
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
    /// When the folder cannot be read or written to.
    pub fn sweep(&self) -> std::io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name == "runs" || name.starts_with("book-") {
                // What cannot be removed is in nobody's way: names are not used
                // a second time.
                let _left = remove_tree(&entry.path());
            }
        }
        fs::create_dir_all(self.runs())
    }
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
