//! Begins an exercise anew, and loses nothing.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::catalogue::Exercise;
use crate::problem::Problem;
use crate::workshop::Workshop;

/// What [`reset`] has done.
#[derive(Debug, PartialEq, Eq)]
pub enum Reset {
    /// Nothing: it was the stub.
    WasTheStub,
    /// There was nothing to keep.
    WasMissing,
    /// The reader's version is in this file now.
    Kept(PathBuf),
}

impl Reset {
    /// Says it.
    pub fn spoken(&self, workshop: &Workshop, exercise: &Exercise) -> String {
        let number = exercise.number;
        let shown = |file: &Path| {
            let file = file.strip_prefix(workshop.root()).unwrap_or(file);
            file.display().to_string()
        };
        match self {
            Self::WasTheStub => {
                format!("Exercise {number} is as it was: there is nothing to reset.\n")
            }
            Self::WasMissing => format!("Exercise {number} is the stub again.\n"),
            Self::Kept(file) => format!(
                "Exercise {number} is the stub again. Your version is in `{}`.\n",
                shown(file)
            ),
        }
    }
}

/// Puts the stub in place of the reader's version, which it keeps in a new file
/// beside it.
///
/// # Errors
///
/// When a file cannot be read or written. The reader's version is still in one
/// of the two places then.
pub fn reset(exercise: &Exercise) -> Result<Reset, Problem> {
    let pristine = fs::read(exercise.pristine()).map_err(|error| {
        Problem::new(format!(
            "`{}` cannot be read: {error}",
            exercise.pristine().display()
        ))
        .help("`git restore` brings it back")
    })?;
    let done = match fs::read(exercise.stub()) {
        Ok(version) if version == pristine => return Ok(Reset::WasTheStub),
        Ok(version) => Reset::Kept(keep(&exercise.folder, &version)?),
        Err(error) if error.kind() == ErrorKind::NotFound => Reset::WasMissing,
        Err(error) => return Err(unreadable(exercise, &error)),
    };
    fs::write(exercise.stub(), pristine).map_err(|error| {
        let problem = Problem::new(format!(
            "`{}` cannot be written: {error}",
            exercise.stub().display()
        ));
        match &done {
            Reset::Kept(file) => problem.help(format!("your version is in `{}`", file.display())),
            _ => problem.help("make room, or change the folder's owner"),
        }
    })?;
    Ok(done)
}

/// Writes the version to the first file that is not there yet.
pub fn keep(folder: &Path, version: &[u8]) -> Result<PathBuf, Problem> {
    for number in 1.. {
        let file = folder.join(format!("lib-{number}.kept.rs"));
        match File::create_new(&file) {
            Ok(open) => {
                return write(open, version)
                    .map(|()| file.clone())
                    .map_err(|error| {
                        // A part of it would only mislead.
                        let _left = fs::remove_file(&file);
                        unkept(&file, &error)
                    });
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(unkept(&file, &error)),
        }
    }
    unreachable!("the numbers never end")
}

fn write(mut file: File, version: &[u8]) -> io::Result<()> {
    file.write_all(version)?;
    // Only what is on the disk may be overwritten elsewhere.
    file.sync_all()
}

fn unkept(file: &Path, error: &io::Error) -> Problem {
    Problem::new(format!(
        "your version cannot be kept in `{}`: {error}",
        file.display()
    ))
    .help("make room, or change the folder's owner; nothing has been reset")
}

fn unreadable(exercise: &Exercise, error: &io::Error) -> Problem {
    Problem::new(format!(
        "`{}` cannot be read: {error}",
        exercise.stub().display()
    ))
    .help("change its owner; nothing has been reset")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Exercise, Reset, reset};

    fn exercise() -> (tempfile::TempDir, Exercise) {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("07-yield-now");
        fs::create_dir_all(folder.join("src")).unwrap();
        let exercise = Exercise {
            number: 7,
            topic: "yield-now".into(),
            folder,
        };
        fs::write(exercise.pristine(), "stub").unwrap();
        (root, exercise)
    }

    #[test]
    fn each_version_is_kept_in_a_file_of_its_own() {
        let (_root, exercise) = exercise();
        for (number, version) in [(1, "mine"), (2, "another")] {
            fs::write(exercise.stub(), version).unwrap();
            let kept = exercise.folder.join(format!("lib-{number}.kept.rs"));
            assert_eq!(reset(&exercise).unwrap(), Reset::Kept(kept.clone()));
            assert_eq!(fs::read_to_string(kept).unwrap(), version);
            assert_eq!(fs::read_to_string(exercise.stub()).unwrap(), "stub");
        }
        assert_eq!(reset(&exercise).unwrap(), Reset::WasTheStub);
    }

    #[test]
    fn a_file_that_was_removed_comes_back() {
        let (_root, exercise) = exercise();
        assert_eq!(reset(&exercise).unwrap(), Reset::WasMissing);
        assert_eq!(fs::read_to_string(exercise.stub()).unwrap(), "stub");
    }

    #[test]
    fn without_the_stubs_copy_nothing_is_touched() {
        let (_root, exercise) = exercise();
        fs::remove_file(exercise.pristine()).unwrap();
        fs::write(exercise.stub(), "mine").unwrap();
        assert!(reset(&exercise).is_err());
        assert_eq!(fs::read_to_string(exercise.stub()).unwrap(), "mine");
    }
}
