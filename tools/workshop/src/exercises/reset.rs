//! Puts the stub back, or a wrong version in its place, and loses nothing.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use super::catalogue::Exercise;
use super::kept::{keep, unreadable};
use super::loose::{Loose, Place};
use super::placed::{Placed, ROOT, Version};
use super::turn::Turn;
use crate::problem::Problem;
use crate::workshop::Workshop;

/// What [`reset`] has done.
#[derive(Debug, PartialEq, Eq)]
pub enum Reset {
    /// Nothing: it was the stub.
    WasTheStub,
    /// There was nothing to keep: no file, or nothing of the reader's own.
    NothingKept,
    /// The reader's version is in this file now; in several if it had more files, or
    /// if the reader, or an editor, saved others during the reset.
    Kept(Vec<PathBuf>),
}

impl Reset {
    /// Says it.
    pub fn spoken(&self, workshop: &Workshop, exercise: &Exercise) -> String {
        let number = exercise.number;
        match self {
            Self::WasTheStub => {
                format!("Exercise {number} is as it was: there is nothing to reset.\n")
            }
            Self::NothingKept => format!("Exercise {number} is the stub again.\n"),
            Self::Kept(files) => format!(
                "Exercise {number} is the stub again. {}\n",
                where_kept(workshop, files, "the reset")
            ),
        }
    }
}

/// Says where the reader's version is.
pub fn where_kept(workshop: &Workshop, files: &[PathBuf], event: &str) -> String {
    let shown = |file: &PathBuf| {
        let file = file.strip_prefix(workshop.root()).unwrap_or(file);
        format!("`{}`", file.display())
    };
    let is_root = |file: &&PathBuf| {
        let name = file.file_name().unwrap_or_default();
        name.to_string_lossy().starts_with("lib-")
    };
    let several = files.iter().filter(is_root).count() > 1;
    let files: Vec<_> = files.iter().map(shown).collect();
    let files = files.join(", ");
    match several {
        true => format!("It was saved during {event}: your versions are in {files}."),
        false => format!("Your version is in {files}."),
    }
}

/// Puts the stub in place of the reader's version, which it keeps in a new file
/// beside it. What a wrong version has put there goes.
///
/// # Errors
///
/// When a file can't be read or written. The reader's version is still in one
/// of the two places then.
pub fn reset(exercise: &Exercise) -> Result<Reset, Problem> {
    let stub = Version {
        files: BTreeMap::from([(ROOT.into(), pristine(exercise)?)]),
        dependencies: Vec::new(),
    };
    let _turn = Turn::take(exercise)?;
    let placed = Placed::read(exercise);
    let (was_it, kept) = replace(exercise, &stub, &placed)?;
    placed.remove(exercise)?;
    Ok(match kept.is_empty() {
        true if was_it && placed.is_empty() => Reset::WasTheStub,
        true => Reset::NothingKept,
        false => Reset::Kept(kept),
    })
}

/// Puts a version in place of the reader's, which it keeps in new files, as a reset
/// does. Returns those; none if there was nothing to keep.
///
/// # Errors
///
/// When a file can't be read or written. The reader's version is still in one
/// of the two places then.
pub fn replace_by(exercise: &Exercise, version: &Version) -> Result<Vec<PathBuf>, Problem> {
    let _turn = Turn::take(exercise)?;
    let earlier = Placed::read(exercise);
    let placed = earlier.announce(exercise, version)?;
    let (_, kept) = replace(exercise, version, &earlier)?;
    placed.place_others(exercise, version)?;
    Ok(kept)
}

/// Puts the version's root in place, and moves what is in the way of its other files
/// aside. Returns whether the root was the same already, and what was kept.
fn replace(
    exercise: &Exercise,
    version: &Version,
    placed: &Placed,
) -> Result<(bool, Vec<PathBuf>), Problem> {
    let new = version.root().as_bytes();
    let pristine = pristine(exercise)?;
    let is_known =
        |text: &[u8]| text == pristine.as_bytes() || text == new || placed.has(ROOT.as_ref(), text);
    let mut was_it = false;
    let copy = match fs::read(exercise.stub()) {
        Ok(text) if is_known(&text) => {
            was_it = text == new;
            None
        }
        // It's written first: a full disk must not be found out half way.
        Ok(text) => Some((keep(&exercise.folder, &text)?, text)),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(unreadable(exercise, &error)),
    };
    let mut kept: Vec<_> = copy.iter().map(|(file, _)| file.clone()).collect();
    kept.extend(placed.make_room(exercise, version)?);
    if was_it {
        return Ok((was_it, kept));
    }
    let place = Place::of(exercise);
    let found = Loose::write(&place, new).and_then(|loose| loose.take_place(&place));
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
    for old in found {
        kept.extend(keep_beside(exercise, old, copy.as_ref(), is_known)?);
    }
    Ok((was_it, kept))
}

fn pristine(exercise: &Exercise) -> Result<String, Problem> {
    fs::read_to_string(exercise.pristine()).map_err(|error| {
        Problem::new(format!(
            "`{}` cannot be read: {error}",
            exercise.pristine().display()
        ))
        .help("`git restore` brings it back")
    })
}

/// Keeps what has been replaced, unless it's known or in `copy` already, and returns
/// where.
fn keep_beside(
    exercise: &Exercise,
    old: Loose,
    copy: Option<&(PathBuf, Vec<u8>)>,
    is_known: impl Fn(&[u8]) -> bool,
) -> Result<Option<PathBuf>, Problem> {
    let unread = |error: io::Error| unreadable(exercise, &error);
    let (bytes, has_writer) = old.settled().map_err(unread)?;
    let copied = copy.filter(|(_, version)| *version == bytes);
    if (is_known(&bytes) || copied.is_some()) && !has_writer {
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
        assert_eq!(reset(&exercise).unwrap(), Reset::NothingKept);
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
