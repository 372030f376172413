//! Puts the stub back, and loses nothing.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use super::catalogue::Exercise;
use super::kept::{keep, unreadable};
use super::loose::{Loose, Place};
use super::turn::Turn;
use crate::problem::Problem;
use crate::workshop::Workshop;

/// What [`reset`] has done.
#[derive(Debug, PartialEq, Eq)]
pub enum Reset {
    /// Nothing: it was the stub.
    WasTheStub,
    /// There was nothing to keep.
    WasMissing,
    /// The reader's version is in this file now; in several if the reader, or an
    /// editor, saved others during the reset.
    Kept(Vec<PathBuf>),
}

impl Reset {
    /// Says it.
    pub fn spoken(&self, workshop: &Workshop, exercise: &Exercise) -> String {
        let number = exercise.number;
        let shown = |file: &PathBuf| {
            let file = file.strip_prefix(workshop.root()).unwrap_or(file);
            format!("`{}`", file.display())
        };
        match self {
            Self::WasTheStub => {
                format!("Exercise {number} is as it was: there is nothing to reset.\n")
            }
            Self::WasMissing => format!("Exercise {number} is the stub again.\n"),
            Self::Kept(files) if files.len() == 1 => format!(
                "Exercise {number} is the stub again. Your version is in {}.\n",
                shown(&files[0])
            ),
            Self::Kept(files) => {
                let files: Vec<_> = files.iter().map(shown).collect();
                format!(
                    "Exercise {number} is the stub again. It was saved during the reset: \
                     your versions are in {}.\n",
                    files.join(", ")
                )
            }
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
    let _turn = Turn::take(exercise)?;
    let copy = match fs::read(exercise.stub()) {
        Ok(version) if version == pristine => return Ok(Reset::WasTheStub),
        // It's written first: a full disk must not be found out half way.
        Ok(version) => Some((keep(&exercise.folder, &version)?, version)),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(unreadable(exercise, &error)),
    };
    let place = Place::of(exercise);
    let found = Loose::write(&place, &pristine).and_then(|new| new.take_place(&place));
    let found = found.map_err(|error| {
        let problem = Problem::new(format!(
            "`{}` cannot be written: {error}",
            exercise.stub().display()
        ));
        match &copy {
            Some((file, _)) => problem.help(format!("your version is in `{}`", file.display())),
            None => problem.help("make room, or change the folder's owner"),
        }
    })?;
    let mut kept: Vec<_> = copy.iter().map(|(file, _)| file.clone()).collect();
    for old in found {
        kept.extend(keep_beside(exercise, old, copy.as_ref(), &pristine)?);
    }
    Ok(match kept.is_empty() {
        true => Reset::WasMissing,
        false => Reset::Kept(kept),
    })
}

/// Keeps what the stub has replaced, unless it's in `copy` already, and returns
/// where.
fn keep_beside(
    exercise: &Exercise,
    old: Loose,
    copy: Option<&(PathBuf, Vec<u8>)>,
    pristine: &[u8],
) -> Result<Option<PathBuf>, Problem> {
    let unread = |error: io::Error| unreadable(exercise, &error);
    let (bytes, has_writer) = old.settled().map_err(unread)?;
    let copied = copy.filter(|(_, version)| *version == bytes);
    if (bytes == pristine || copied.is_some()) && !has_writer {
        // A program that has opened the file, and writes to it all the same, writes
        // to what is kept.
        if copied.is_none_or(|(file, _)| old.rename(file).is_err()) {
            old.remove();
        }
        return Ok(None);
    }
    old.keep(exercise).map(Some)
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
            assert_eq!(reset(&exercise).unwrap(), Reset::Kept(vec![kept.clone()]));
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
