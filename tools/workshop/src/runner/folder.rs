//! The folder of a run.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::problem::Problem;
use crate::removal::remove_tree;

/// A folder that lasts as long as a run.
pub struct RunFolder(PathBuf);

impl RunFolder {
    /// Creates a folder in `runs`, which `next_name` names. What an earlier
    /// process couldn't remove is left alone.
    ///
    /// # Errors
    ///
    /// When the disk is full, or the folder not writable.
    pub fn create(runs: &Path, mut next_name: impl FnMut() -> String) -> Result<Self, Problem> {
        let created = loop {
            let path = runs.join(next_name());
            match std::fs::create_dir_all(runs).and_then(|()| std::fs::create_dir(&path)) {
                Ok(()) => break Ok(Self(path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => break Err(error),
            }
        };
        let created = created.and_then(|folder| {
            std::fs::create_dir(folder.figures())?;
            Ok(folder)
        });
        created.map_err(|error| {
            Problem::new(format!(
                "no folder can be made in `{}`: {error}",
                runs.display()
            ))
            .help("make room on the disk, or change the folder's owner")
        })
    }

    /// Removes it. A program can leave so much that this takes seconds, which no
    /// thread of the server has to spare.
    pub async fn remove(self) {
        let _removed = tokio::task::spawn_blocking(move || drop(self)).await;
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Where the program leaves what figures are drawn from.
    pub fn figures(&self) -> PathBuf {
        self.0.join("figures")
    }

    /// Where the compiled program goes.
    pub fn executable(&self) -> PathBuf {
        self.0
            .join(format!("snippet{}", std::env::consts::EXE_SUFFIX))
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // What can't be removed now is removed by the next start.
        let _left = remove_tree(&self.0);
    }
}
