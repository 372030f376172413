//! Versions of the reader's file that are kept beside it, so that none is lost.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::catalogue::Exercise;
use crate::problem::Problem;

/// Returns `true` if one of the files that were kept has this text.
pub fn is_kept(exercise: &Exercise, text: &[u8]) -> bool {
    let entries = fs::read_dir(&exercise.folder).into_iter().flatten();
    let names = entries.flatten().map(|entry| entry.path());
    let mut kept = names.filter(|file| file.to_string_lossy().ends_with(KEPT));
    kept.any(|file| fs::read(file).is_ok_and(|kept| kept == text))
}

/// How the names of files end that were kept. Git ignores them.
const KEPT: &str = ".kept.rs";

/// Writes the version to the first file that isn't there yet.
///
/// # Errors
///
/// When it can't be written.
pub fn keep(folder: &Path, version: &[u8]) -> Result<PathBuf, Problem> {
    keep_as(folder, "lib", version)
}

/// Writes a file of a version to the first file of this name that isn't there yet.
///
/// # Errors
///
/// When it can't be written.
pub fn keep_as(folder: &Path, name: &str, version: &[u8]) -> Result<PathBuf, Problem> {
    for number in 1.. {
        let file = folder.join(format!("{name}-{number}{KEPT}"));
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

/// The problem that the reader's file can't be read.
pub fn unreadable(exercise: &Exercise, error: &io::Error) -> Problem {
    Problem::new(format!(
        "`{}` cannot be read: {error}",
        exercise.stub().display()
    ))
    .help("change its owner; nothing has been reset")
}
