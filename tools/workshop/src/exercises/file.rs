//! The file that the reader works in, as a page reads and writes it. A page that
//! writes says which version it has seen, so that no text is lost.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::catalogue::Exercise;
use super::loose::{Loose, Place};
use super::turn::Turn;
use super::{guard, kept};
use crate::hash::Fnv;
use crate::problem::Problem;

/// The file as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Version {
    /// Its text; nothing if there is no such file.
    pub text: Option<String>,
    /// Tells versions apart; nothing if there is no such file.
    pub hash: Option<String>,
}

/// Why nothing was written.
#[derive(Debug)]
pub enum Unwritten {
    /// The file isn't the version that the writer has seen, but this one.
    Conflict(Version),
    /// It can't be written.
    Problem(Problem),
}

impl From<Problem> for Unwritten {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// Reads the file.
///
/// # Errors
///
/// When it is there and can't be read, or isn't text.
pub fn read(exercise: &Exercise) -> Result<Version, Problem> {
    match fs::read(exercise.stub()) {
        Ok(bytes) => version(exercise, bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Version {
            text: None,
            hash: None,
        }),
        Err(error) => {
            let problem = Problem::new(format!("`{}` cannot be read: {error}", shown(exercise)));
            Err(problem.help("change its owner or its permissions"))
        }
    }
}

fn version(exercise: &Exercise, bytes: Vec<u8>) -> Result<Version, Problem> {
    let hash = Fnv::of(&bytes);
    let text = String::from_utf8(bytes).map_err(|_| {
        Problem::new(format!("`{}` is not text in UTF-8", shown(exercise)))
            .help("save it so in your editor")
    })?;
    Ok(Version {
        text: Some(text),
        hash: Some(hash),
    })
}

/// Replaces the version that has the hash `seen` by `text`, and returns the new
/// one's hash. First keeps `aside`, if there is something to keep, in a file
/// beside it, and returns that too.
///
/// # Errors
///
/// When the file is another version, or can't be written. It is as it was then.
pub fn write(
    exercise: &Exercise,
    text: &str,
    seen: Option<&str>,
    aside: Option<&str>,
) -> Result<(String, Option<PathBuf>), Unwritten> {
    let _turn = Turn::take(exercise)?;
    let now = read(exercise)?;
    if now.hash.as_deref() != seen {
        return Err(Unwritten::Conflict(now));
    }
    let kept = aside
        .map(|aside| kept::keep(&exercise.folder, aside.as_bytes()))
        .transpose()?;
    let hash = Fnv::of(text.as_bytes());
    if now.text.as_deref() == Some(text) {
        return Ok((hash, kept));
    }
    replace(exercise, text, seen)?;
    // A second look: an editor may have saved meanwhile, and not seen the text.
    let now = read(exercise)?;
    if now.hash.as_deref() != Some(&hash) {
        return Err(Unwritten::Conflict(now));
    }
    guard::replaces(exercise, seen);
    guard::remember(exercise, text, &hash);
    Ok((hash, kept))
}

/// Puts a new file in the place of the old one: no program reads half of it, and
/// a full disk leaves the old one whole. If the old one turns out to be another
/// version than was seen, it's put back.
fn replace(exercise: &Exercise, text: &str, seen: Option<&str>) -> Result<(), Unwritten> {
    let unwritable = |error: io::Error| {
        Problem::new(format!("`{}` cannot be written: {error}", shown(exercise)))
            .help("make room, or change the owner of its folder; the page keeps your text")
    };
    let place = Place::of(exercise);
    let new = Loose::write(&place, text.as_bytes()).map_err(unwritable)?;
    let found = new.take_place(&place).map_err(unwritable)?;
    let mut saved_meanwhile = None;
    for old in found {
        let (bytes, has_writer) = old.settled().map_err(unwritable)?;
        if Some(&*Fnv::of(&bytes)) != seen {
            if let Some(earlier) = saved_meanwhile.replace(old) {
                earlier.keep(exercise)?;
            }
        } else if has_writer {
            // What it writes from now on would go with the file.
            old.keep(exercise)?;
        } else {
            old.remove();
        }
    }
    let Some(theirs) = saved_meanwhile else {
        return Ok(());
    };
    for ours in theirs.take_place(&place).map_err(unwritable)? {
        let (bytes, has_writer) = ours.settled().map_err(unwritable)?;
        match bytes == text.as_bytes() && !has_writer {
            // The page still has it, and is told.
            true => ours.remove(),
            false => drop(ours.keep(exercise)?),
        }
    }
    Err(Unwritten::Conflict(read(exercise)?))
}

/// The file from the workshop's folder on.
pub fn shown(exercise: &Exercise) -> String {
    let stub = exercise.stub();
    let root = exercise.folder.parent().and_then(Path::parent);
    let file = root.and_then(|root| stub.strip_prefix(root).ok());
    file.unwrap_or(&stub).display().to_string()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Exercise, Unwritten, read, write};

    fn exercise() -> (tempfile::TempDir, Exercise) {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("exercises/07-yield-now");
        fs::create_dir_all(folder.join("src")).unwrap();
        let exercise = Exercise {
            number: 7,
            topic: "yield-now".into(),
            folder,
        };
        fs::write(exercise.stub(), "one").unwrap();
        (root, exercise)
    }

    #[test]
    fn who_has_seen_the_version_may_replace_it_and_nobody_else() {
        let (_root, exercise) = exercise();
        let first = read(&exercise).unwrap();
        let (second, _) = write(&exercise, "two", first.hash.as_deref(), None).unwrap();
        assert_eq!(fs::read_to_string(exercise.stub()).unwrap(), "two");
        assert_eq!(read(&exercise).unwrap().hash, Some(second));

        let late = write(&exercise, "three", first.hash.as_deref(), None);
        let Err(Unwritten::Conflict(now)) = late else {
            panic!("it has not seen the second: {late:?}");
        };
        assert_eq!(now.text.as_deref(), Some("two"));
        assert_eq!(fs::read_to_string(exercise.stub()).unwrap(), "two");
        let files = fs::read_dir(&exercise.folder).unwrap().count();
        assert_eq!(files, 1, "nothing is left beside `src`");
    }

    #[test]
    fn what_is_set_aside_is_kept_before_anything_is_written() {
        let (_root, exercise) = exercise();
        let seen = read(&exercise).unwrap().hash;
        let (_, kept) = write(&exercise, "mine", seen.as_deref(), Some("one")).unwrap();
        assert_eq!(fs::read_to_string(kept.unwrap()).unwrap(), "one");
    }

    #[test]
    fn a_file_that_is_gone_is_a_version_too() {
        let (_root, exercise) = exercise();
        fs::remove_file(exercise.stub()).unwrap();
        assert!(write(&exercise, "mine", Some("0"), None).is_err());
        write(&exercise, "mine", None, None).unwrap();
        assert_eq!(read(&exercise).unwrap().text.as_deref(), Some("mine"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_and_its_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let (root, exercise) = exercise();
        let elsewhere = root.path().join("mine.rs");
        fs::rename(exercise.stub(), &elsewhere).unwrap();
        fs::set_permissions(&elsewhere, PermissionsExt::from_mode(0o640)).unwrap();
        symlink(&elsewhere, exercise.stub()).unwrap();
        let seen = read(&exercise).unwrap().hash;
        write(&exercise, "two", seen.as_deref(), None).unwrap();
        assert!(exercise.stub().is_symlink());
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "two");
        let mode = elsewhere.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
    }
}
